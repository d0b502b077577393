"""Progress of the timed steps: a bar on a terminal, a line at the end elsewhere."""

from __future__ import annotations

import sys
from typing import Any


class Progress:
    """Called after each step with steps done and loss; silent on every worker but the chief."""

    def __init__(self, steps: int, shown: bool) -> None:
        self.steps, self.shown, self.bar = steps, shown, None
        if shown and sys.stderr.isatty():
            self.bar = _bar(steps)

    def __call__(self, done: int, loss: float) -> None:
        if self.bar is not None:
            self.bar.update(self.bar.task_ids[0], completed=done, description=f"loss {loss:.4f}")
        elif self.shown and done == self.steps:
            print(f"{done} steps done, loss {loss:.4f}", file=sys.stderr, flush=True)

    def close(self) -> None:
        """Take the bar off the terminal."""
        if self.bar is not None:
            self.bar.stop()


def _bar(steps: int) -> Any:
    from rich.console import Console
    from rich.progress import Progress as Bar

    bar = Bar(console=Console(stderr=True))
    bar.add_task("steps", total=steps)
    bar.start()
    return bar
