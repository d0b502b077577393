"""Queues on the PS tasks through which tasks meet, report and say that the work is done."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import Any

import tensorflow.compat.v1 as tf

from hvdbench.cluster.spec import Cluster
from hvdbench.errors import RunError
from hvdbench.strategies.base import Channel

# A PS that has heard one worker finish waits this long for the others, then leaves (C16).
GRACE_S = 30.0
DONE = "done"


def _queue(ps: int, name: str, capacity: int, kinds: list[Any]) -> Any:
    with tf.device(f"/job:ps/task:{ps}/device:CPU:0"):
        return tf.FIFOQueue(capacity, kinds, [()] * len(kinds), shared_name=f"hvdbench_{name}")


def _commands(ps: int, workers: int) -> Any:
    """What a PS is told: questions by the chief, DONE by every worker (C16)."""
    return _queue(ps, f"commands_{ps}", workers + 1, [tf.string])


def _answers(ps: int) -> Any:
    return _queue(ps, f"answers_{ps}", 1, [tf.string])


@contextmanager
def opened(target: str, session_config: Any, cluster: Cluster, timeout_s: float) -> Iterator[QueueChannel]:
    """A channel in a graph and session of its own; when it closes, the PS tasks hear that this worker is done."""
    config = tf.ConfigProto()
    config.CopyFrom(session_config)
    # Neither becomes the default: the training session opens while the channel is in use.
    graph = tf.Graph()
    with closing(tf.Session(target, graph, config)) as session:
        with graph.as_default():
            channel = QueueChannel(session, cluster, timeout_s)
        try:
            yield channel
        except BaseException:
            _tell_quietly(channel)
            raise
        channel.done(timeout_s)


def _tell_quietly(channel: QueueChannel) -> None:
    # The error that ends this worker matters, not a PS that has gone as well.
    try:
        channel.done(2.0)
    except tf.errors.OpError:
        pass


class QueueChannel(Channel):
    """Barriers and reports through queues on ps 0."""

    def __init__(self, session: Any, cluster: Cluster, timeout_s: float) -> None:
        self.session, self.cluster, self.timeout_s = session, cluster, timeout_s
        workers, ps = cluster.workers, range(len(cluster.ps_hosts))
        self.text = tf.placeholder(tf.string, ())
        arrived = _queue(0, "arrived", workers, [tf.int32, tf.string])
        go = [_queue(0, f"go_{index}", 4, [tf.string]) for index in range(workers)]
        self.arrive = arrived.enqueue((cluster.index, self.text))
        self.collect = arrived.dequeue_many(workers)
        self.release = tf.group(*[queue.enqueue(self.text) for queue in go])
        self.await_go = go[cluster.index].dequeue()
        self.finish = tf.group(*[_commands(index, workers).enqueue(DONE) for index in ps])
        self.put = tf.group(*[_commands(index, workers).enqueue(self.text) for index in ps])
        self.answers = [_answers(index).dequeue() for index in ps]

    def barrier(self) -> None:
        self._meet(b"", lambda reports: b"")

    def exchange(self, report: bytes) -> list[bytes]:
        answer = self._meet(report, lambda reports: json.dumps([each.decode() for each in reports]).encode())
        return [each.encode() for each in json.loads(answer)]

    def gather(self, report: bytes) -> list[bytes]:
        kept: list[bytes] = []

        def keep(reports: list[bytes]) -> bytes:
            kept.extend(reports)
            return b""

        self._meet(report, keep)
        return kept

    def ask(self, question: str) -> list[bytes]:
        if not self.cluster.is_chief:
            return []
        self._run(self.put, {self.text: question})
        return [bytes(each) for each in self._run(self.answers)]

    def done(self, timeout_s: float) -> None:
        """Tell every PS that this worker needs it no more."""
        self.session.run(self.finish, options=tf.RunOptions(timeout_in_ms=int(timeout_s * 1000)))

    def _meet(self, report: bytes, answer: Callable[[list[bytes]], bytes]) -> bytes:
        """Wait for all workers; the chief turns their reports into the answer that each of them gets."""
        self._run(self.arrive, {self.text: report})
        if self.cluster.is_chief:
            indices, reports = self._run(self.collect)
            ordered = [each for _, each in sorted(zip(indices.tolist(), reports.tolist(), strict=True))]
            self._run(self.release, {self.text: answer(ordered)})
        return bytes(self._run(self.await_go))

    def _run(self, fetches: Any, feed: dict[Any, Any] | None = None) -> Any:
        options = tf.RunOptions(timeout_in_ms=int(self.timeout_s * 1000))
        try:
            return self.session.run(fetches, feed, options)
        except tf.errors.DeadlineExceededError as error:
            raise RunError(
                f"worker {self.cluster.index} waited {self.timeout_s:g} s for the other tasks "
                "at a barrier; see whether all were started, or raise --start-timeout"
            ) from error


def serve(target: str, cluster: Cluster, answer: Callable[[str], bytes]) -> None:
    """Answer the chief's questions until every worker is done; raises RunError when some never are."""
    command, answers = _commands(cluster.index, cluster.workers).dequeue(), _answers(cluster.index)
    text = tf.placeholder(tf.string, ())
    enqueue = answers.enqueue(text)
    config = tf.ConfigProto(device_filters=[f"/job:ps/task:{cluster.index}"])
    done, deadline = 0, None
    with tf.Session(target, config=config) as session:
        while done < cluster.workers:
            left_ms = 0 if deadline is None else max(1, int((deadline - time.monotonic()) * 1000))
            try:
                told = session.run(command, options=tf.RunOptions(timeout_in_ms=left_ms)).decode()
            except tf.errors.DeadlineExceededError as error:
                raise RunError(
                    f"ps {cluster.index}: a worker finished but others did not within "
                    f"{GRACE_S:g} s; look at the workers' output"
                ) from error
            if told == DONE:
                done += 1
                deadline = deadline or time.monotonic() + GRACE_S
            else:
                session.run(enqueue, {text: answer(told)})
