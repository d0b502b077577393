"""`make bench`: paired ratios from one interleaved run."""

from tests.bench import command_line, harness, stamps, verdicts, wire

if __name__ == "__main__":
    command_line.main()
    harness.main()
    stamps.main()
    wire.main()
    verdicts.main()
