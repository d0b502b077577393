"""What every parameter-server strategy shares: servers, placement, counting, and the start of a session."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any

import tensorflow.compat.v1 as tf

from hvdbench import models
from hvdbench.cluster.spec import PS
from hvdbench.errors import RunError
from hvdbench.graph import Graph
from hvdbench.models.spec import Variable
from hvdbench.strategies import placement, ps_channel
from hvdbench.strategies.base import Channel, Strategy


class ParameterServer(Strategy):
    """Variables on the PS tasks' CPUs, pulled by every worker for every step."""

    pulls = True

    def start(self, session_config: Any) -> None:
        super().start(session_config)
        me = self.cluster
        spec = tf.train.ClusterSpec({"ps": list(me.ps_hosts), "worker": list(me.worker_hosts)})
        if me.trains:
            # Without filters every session waits for every task to be up (C17).
            session_config.device_filters.extend(["/job:ps", f"/job:worker/task:{me.index}"])
        try:
            self.server = tf.distribute.Server(spec, job_name=me.role, task_index=me.index, config=session_config)
        except tf.errors.OpError as error:
            hosts = me.ps_hosts if me.role == PS else me.worker_hosts
            raise RunError(
                f"{me.role} {me.index} cannot listen on {hosts[me.index]}: "
                f"{error.message.splitlines()[0]}; choose a free port of this host"
            ) from error
        self.setter = tf.train.replica_device_setter(
            ps_tasks=len(me.ps_hosts), ps_device="/job:ps/device:CPU:0", worker_device=self.worker_device()
        )

    def worker_device(self) -> str:
        return f"/job:worker/task:{self.cluster.index}"

    def make_global_step(self) -> Any:
        with tf.device("/job:ps/task:0/device:CPU:0"):
            return tf.train.get_or_create_global_step()

    def make_variable(self, variable: Variable, initial: Callable[[], Any]) -> list[Any]:
        if self.config.placement == placement.ROUND_ROBIN:
            # TensorFlow's own setter, not our idea of it: this is the arm that the founding question ran.
            with tf.device(self.setter):
                return super().make_variable(variable, initial)
        return [self._piece(piece, initial) for piece in self._pieces(variable.name)]

    @cached_property
    def _assigned(self) -> tuple[placement.Piece, ...]:
        spec = models.spec(self.config.model, self.config.classes)
        return placement.assign(spec.variables(), len(self.cluster.ps_hosts), self.config.placement)

    def _pieces(self, name: str) -> list[placement.Piece]:
        return [piece for piece in self._assigned if piece.variable == name]

    def _piece(self, piece: placement.Piece, initial: Callable[[], Any]) -> Any:
        def value() -> Any:
            if piece.part is None:
                return initial()
            begin = [0] * len(piece.shape)
            begin[piece.axis] = piece.begin
            return tf.slice(initial(), begin, piece.shape)

        with tf.device(f"/job:ps/task:{piece.ps}/device:CPU:0"):
            return tf.Variable(value, trainable=True, name=piece.name, use_resource=True)

    def whole(self, variable: Variable, parts: Sequence[Any]) -> Any:
        if len(parts) == 1:
            return super().whole(variable, parts)
        axis = self._pieces(variable.name)[0].axis
        return tf.concat([part.read_value() for part in parts], axis, name=f"values/{variable.name}")

    def make_counter(self) -> Any:
        """The variable that counts every worker's contributions; it is updated as the model's variables are."""
        with tf.device("/job:ps/task:0/device:CPU:0"):
            self.counter = tf.Variable(
                tf.zeros((self.cluster.workers,), tf.float64), trainable=False, name="contributions", use_resource=True
            )
        return self.counter

    def counting_gradient(self, learning_rate: float, aggregated: int) -> tuple[Any, Any]:
        """A gradient of the counter that goes the way of the model's own, and adds one when it is applied.

        A gradient that is dropped as stale is then not counted either. The update subtracts rate times the
        mean over `aggregated` gradients, hence -aggregated / rate.
        """
        one = tf.one_hot(self.cluster.index, self.cluster.workers, dtype=tf.float64)
        return -one * aggregated / learning_rate, self.make_counter()

    def readings(self, train_op: Any) -> dict[str, Any]:
        with tf.control_dependencies([train_op]):
            found = {"counter": self.counter.read_value()}
            if not self.config.bulk_synchronous:
                found["updates"] = tf.train.get_global_step().read_value()
        return found

    def hooks(self) -> list[Any]:
        """Session hooks of the strategy; built before the session."""
        return []

    @contextmanager
    def session(self, graph: Graph) -> Iterator[Any]:
        hooks = [*self.hooks(), _NoSilentRestart()]
        self.count = self.counter.read_value()
        if not self.cluster.is_chief:
            self._await_variables()
        with tf.train.MonitoredTrainingSession(
            self.server.target,
            self.cluster.is_chief,
            hooks=hooks,
            save_checkpoint_secs=None,
            save_summaries_steps=None,
            save_summaries_secs=None,
            log_step_count_steps=None,
            config=self.session_config,
            max_wait_secs=int(self.config.start_timeout_s),
            stop_grace_period_secs=1,
        ) as session:
            yield session
            threading.excepthook = _quiet_on_close

    def _await_variables(self) -> None:
        # MonitoredTrainingSession would look only every 30 s.
        missing = tf.report_uninitialized_variables(tf.global_variables())
        deadline = time.monotonic() + self.config.start_timeout_s
        with tf.Session(self.server.target, config=self.session_config) as session:
            while len(session.run(missing)):
                if time.monotonic() > deadline:
                    raise RunError(
                        f"worker {self.cluster.index} waited {self.config.start_timeout_s:g} s for the "
                        "chief to initialise the variables; see whether worker 0 was started"
                    )
                time.sleep(0.2)

    @contextmanager
    def channel(self) -> Iterator[Channel]:
        with ps_channel.opened(
            self.server.target, self.session_config, self.cluster, self.config.start_timeout_s
        ) as channel:
            yield channel

    def counted(self, session: Any) -> list[int] | None:
        return [round(float(each)) for each in session.run(self.count)]

    def placement(self, graph: Graph) -> list[dict[str, Any]]:
        tasks: list[dict[str, Any]] = [
            {"ps": i, "variables": [], "bytes": 0} for i in range(len(self.cluster.ps_hosts))
        ]
        for variable in graph.variables:
            task = tasks[tf.DeviceSpec.from_string(variable.device).task]
            task["variables"].append(variable.op.name)
            task["bytes"] += variable.shape.num_elements() * variable.dtype.base_dtype.size
        return tasks

    def serve(self, answer: Callable[[str], bytes]) -> None:
        ps_channel.serve(self.server.target, self.cluster, answer)


class _NoSilentRestart(tf.train.SessionRunHook):
    """Ends the run where MonitoredSession would open a second session in the middle of a window (C22)."""

    opened = False

    def after_create_session(self, session: Any, coord: Any) -> None:
        if self.opened:
            raise RunError("the session was lost and reopened: a PS or the network went away; the run is invalid")
        self.opened = True


def _quiet_on_close(failure: threading.ExceptHookArgs) -> None:
    """Closing a session cancels the token queue's waiting thread: no error, so no traceback."""
    if not isinstance(failure.exc_value, tf.errors.CancelledError):
        threading.__excepthook__(failure)
