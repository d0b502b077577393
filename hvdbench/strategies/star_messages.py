"""How the gradients of one step become messages between workers and roots; plain data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hvdbench.strategies.placement import Piece

# Large enough that a message costs nothing beside its bytes, small enough that a root sends the first of fc6's
# means back while the rest is still on its way.
MESSAGE_BYTES = 4 * 2**20
# Tags below are those of questions and answers.
FIRST_TAG = 16


@dataclass(frozen=True)
class Message:
    """Elements `begin` to `end` of the flat gradient `tensor`, to `root` and back under `tag`."""

    tensor: int
    begin: int
    end: int
    root: int
    tag: int

    @property
    def elements(self) -> int:
        return self.end - self.begin


def messages_of(names: Sequence[str], pieces: Sequence[Piece], element_bytes: int, workers: int) -> list[Message]:
    """The messages of one step: every piece to its root, in parts of at most 4 MiB; last, `workers` counts to root 0.

    `names` are the variables in order. A mean is taken element by element, so a part of a variable is any run of
    its elements; each root gets as many as the placement gives it.
    """
    most = max(1, MESSAGE_BYTES // element_bytes)
    index = {name: place for place, name in enumerate(names)}
    begins = [0] * len(names)
    found: list[Message] = []
    for piece in pieces:
        tensor = index[piece.variable]
        begin, begins[tensor] = begins[tensor], begins[tensor] + piece.elements
        for first in range(begin, begins[tensor], most):
            last = min(first + most, begins[tensor])
            found.append(Message(tensor, first, last, piece.ps, FIRST_TAG + len(found)))
    found.append(Message(len(names), 0, workers, 0, FIRST_TAG + len(found)))
    return found
