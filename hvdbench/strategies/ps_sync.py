"""Synchronous parameter server: star over gRPC with TensorFlow's SyncReplicasOptimizer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow.compat.v1 as tf

from hvdbench.strategies.ps import ParameterServer


class PsSync(ParameterServer):
    """One update per step from the mean of the workers' gradients."""

    def wrap_optimizer(self, optimizer: Any) -> Any:
        self.optimizer = tf.train.SyncReplicasOptimizer(
            optimizer, replicas_to_aggregate=self.config.aggregated, total_num_replicas=self.config.workers
        )
        return self.optimizer

    def apply(self, optimizer: Any, gradients: list[tuple[Any, Any]], learning_rate: float, global_step: Any) -> Any:
        counting = self.counting_gradient(learning_rate, self.config.aggregated)
        return optimizer.apply_gradients([*gradients, counting], global_step)

    def sent_ops(self) -> Sequence[Any] | None:
        operations = tf.get_default_graph().get_operations()
        return [op for op in operations if op.type.endswith("AccumulatorApplyGradient")]

    def hooks(self) -> list[Any]:
        # strict: no token before the first update. A worker gets its next token only from an update that
        # needed every worker, so one that starts early cannot take the others' tokens (design.md, section 2).
        # default: TensorFlow's own number, which lets a worker contribute twice to an update.
        tokens = 0 if self.config.tokens == "strict" else -1
        return [self.optimizer.make_session_run_hook(self.cluster.is_chief, num_tokens=tokens)]
