"""`python -m hvdbench`: the same program as the console script."""

import sys

from hvdbench.cli import main

if __name__ == "__main__":
    sys.exit(main())
