"""`python -m hvdbench`: the same program as the console script."""

from hvdbench.cli import leave, main

if __name__ == "__main__":
    leave(main())
