"""Asynchronous parameter server: every worker applies its own gradient as soon as it has one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from hvdbench.strategies.ps import ParameterServer

# CountUpTo needs a limit; no run counts this far.
NEVER = 2**62


class PsAsync(ParameterServer):
    """One update per gradient of one worker; nobody waits for anybody."""

    def apply(self, optimizer: Any, gradients: list[tuple[Any, Any]], learning_rate: float, global_step: Any) -> Any:
        # Read as the pulls begin: the age of the oldest variable that this step can have seen.
        self.pulled_at = global_step.read_value()
        counting = self.counting_gradient(learning_rate, 1)
        self.pushed = optimizer.apply_gradients([*gradients, counting])
        with tf.control_dependencies([self.pushed, self.pulled_at]):
            # Atomic, unlike an assign_add that is read afterwards: the number of updates before this one.
            self.updates_before = tf.raw_ops.ResourceCountUpTo(
                resource=global_step.handle, limit=NEVER, T=global_step.dtype.base_dtype
            )
        return self.updates_before.op

    def sent_ops(self) -> Sequence[Any] | None:
        return [self.pushed]

    def readings(self, train_op: Any) -> dict[str, Any]:
        staleness = self.updates_before - self.pulled_at
        return super().readings(train_op) | {"staleness": staleness}
