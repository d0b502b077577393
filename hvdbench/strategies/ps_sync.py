"""Synchronous parameter server: star over gRPC with TensorFlow's SyncReplicasOptimizer."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import tensorflow.compat.v1 as tf

from hvdbench.cluster.spec import PS
from hvdbench.errors import RunError
from hvdbench.graph import Graph
from hvdbench.strategies.base import Channel, Strategy

# A PS that has heard one worker finish waits this long for the others, then leaves (C16).
GRACE_S = 30.0


class PsSync(Strategy):
    """One update per step from the mean of all workers' gradients, variables on the PS tasks' CPUs."""

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

    def worker_device(self) -> str:
        return f"/job:worker/task:{self.cluster.index}"

    def variable_device(self) -> AbstractContextManager[Any]:
        setter = tf.train.replica_device_setter(
            ps_tasks=len(self.cluster.ps_hosts), ps_device="/job:ps/device:CPU:0", worker_device=self.worker_device()
        )
        device: AbstractContextManager[Any] = tf.device(setter)
        return device

    def wrap_optimizer(self, optimizer: Any) -> Any:
        workers = self.cluster.workers
        self.optimizer = tf.train.SyncReplicasOptimizer(
            optimizer, replicas_to_aggregate=workers, total_num_replicas=workers
        )
        return self.optimizer

    def counting_gradients(self, learning_rate: float) -> list[tuple[Any, Any]]:
        # The count passes through the same accumulators as the gradients, so a gradient that is dropped as
        # stale is not counted either: counter -= rate * mean(g) must add one per contribution.
        workers = self.cluster.workers
        with tf.device("/job:ps/task:0/device:CPU:0"):
            self.counter = tf.Variable(
                tf.zeros((workers,), tf.float64), trainable=False, name="contributions", use_resource=True
            )
        one = tf.one_hot(self.cluster.index, workers, dtype=tf.float64)
        return [(-one * workers / learning_rate, self.counter)]

    @contextmanager
    def session(self, graph: Graph) -> Iterator[Any]:
        # No initial tokens: a worker gets its next token only from an update that needed every worker, so
        # one that starts early cannot take the others' tokens (design.md, section 2).
        hook = self.optimizer.make_session_run_hook(self.cluster.is_chief, num_tokens=0)
        if not self.cluster.is_chief:
            self._await_variables()
        with tf.train.MonitoredTrainingSession(
            self.server.target,
            self.cluster.is_chief,
            hooks=[hook, _NoSilentRestart()],
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
        # After closing: a PS that left earlier would make the close wait for it.
        with tf.Session(self.server.target, config=self.session_config) as session:
            session.run(self.done)

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

    def prepare_channel(self) -> None:
        me = self.cluster
        with tf.device("/job:ps/task:0/device:CPU:0"):
            arrived = tf.FIFOQueue(me.workers, [tf.int32, tf.string], [(), ()], shared_name="hvdbench_arrived")
            go = [tf.FIFOQueue(4, [tf.int32], [()], shared_name=f"hvdbench_go_{i}") for i in range(me.workers)]
            self.report = tf.placeholder(tf.string, ())
            self.arrive = arrived.enqueue((me.index, self.report))
            self.collect = arrived.dequeue_many(me.workers)
            self.release = tf.group(*[queue.enqueue(0) for queue in go])
            self.await_go = go[me.index].dequeue()
        done = []
        for index in range(len(me.ps_hosts)):
            done.append(done_queue(index, me.workers).enqueue(me.index))
        self.done = tf.group(*done)
        self.count = self.counter.read_value()

    def channel(self, session: Any) -> Channel:
        return QueueChannel(self, session)

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

    def serve(self) -> None:
        dequeue = done_queue(self.cluster.index, self.cluster.workers).dequeue()
        session_config = tf.ConfigProto(device_filters=[f"/job:ps/task:{self.cluster.index}"])
        with tf.Session(self.server.target, config=session_config) as session:
            session.run(dequeue)
            deadline = time.monotonic() + GRACE_S
            for _ in range(self.cluster.workers - 1):
                left_ms = max(1, int((deadline - time.monotonic()) * 1000))
                try:
                    session.run(dequeue, options=tf.RunOptions(timeout_in_ms=left_ms))
                except tf.errors.DeadlineExceededError as error:
                    raise RunError(
                        f"ps {self.cluster.index}: a worker finished but others did not within "
                        f"{GRACE_S:g} s; look at the workers' output"
                    ) from error


def done_queue(ps: int, workers: int) -> Any:
    """The queue on one PS into which every worker puts its index when it is done (C16)."""
    with tf.device(f"/job:ps/task:{ps}/device:CPU:0"):
        return tf.FIFOQueue(workers, [tf.int32], [()], shared_name=f"hvdbench_done_{ps}")


class QueueChannel(Channel):
    """Barriers and reports through queues on ps 0."""

    def __init__(self, strategy: PsSync, session: Any) -> None:
        self.strategy, self.session = strategy, session

    def barrier(self) -> None:
        self.gather(b"")

    def gather(self, report: bytes) -> list[bytes]:
        me, run = self.strategy, self.session.run
        options = tf.RunOptions(timeout_in_ms=int(me.config.start_timeout_s * 1000))
        found: list[bytes] = []
        try:
            run(me.arrive, {me.report: report}, options)
            if me.cluster.is_chief:
                indices, reports = run(me.collect, options=options)
                found = [each for _, each in sorted(zip(indices.tolist(), reports.tolist(), strict=True))]
                run(me.release, options=options)
            run(me.await_go, options=options)
        except tf.errors.DeadlineExceededError as error:
            raise RunError(
                f"worker {me.cluster.index} waited {me.config.start_timeout_s:g} s for the other workers "
                "at a barrier; see whether all were started, or raise --start-timeout"
            ) from error
        return found


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
