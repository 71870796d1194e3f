"""Trainings that run: they print their steps as time passes, save checkpoints, and end when a peer is gone."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from toolkit.simulator import names, pods
from toolkit.simulator.actors.api import Object
from toolkit.simulator.actors.informer import Key
from toolkit.simulator.actors.podlogs import PodLogs
from toolkit.simulator.actors.runtime import Runtime
from toolkit.simulator.actors.workload import Outcome, stated_seconds
from toolkit.simulator.performance import lost_ranks
from toolkit.simulator.performance.job import Launched, read_faults
from toolkit.simulator.performance.printed import Steps

TICK = 0.2
"""Seconds between two looks at a training."""
TIMEOUT = 600.0
"""Seconds until collectives of NCCL time out (torch/distributed/constants.py, PyTorch 2.8)."""
CLOSED = 1.0
"""Seconds until a closed connection has ended a rank."""
COLLECTIVES = 20
"""Of a reported step: ten steps with two buckets each, as an order of magnitude."""


@dataclass
class _Run:
    """One pod's part of a training."""

    steps: Steps
    lines: tuple[str, ...]
    """First ones of the log."""
    peers: dict[Key, str]
    """Other pods of the job, and their UIDs."""
    ranks: Sequence[int]
    timeout: float
    gpus: Mapping[str, frozenset[int]]
    """Node -> its GPUs that the pods of which this one prints the end were given."""
    began: float
    done: int = 0
    """Reported steps that have ended."""
    stalled: float | None = None
    """Since when a peer is missed."""
    ended: Outcome | None = None


class TrainingRuns:
    """The trainings of all pods, by UID and restart of their containers."""

    def __init__(self, runtime: Runtime, logs: PodLogs) -> None:
        self._runtime = runtime
        self._logs = logs
        self._runs: dict[tuple[str, int], _Run] = {}

    def begin(self, pod: Object, begun: Outcome, job: Launched) -> Outcome:
        """Start a training whose first lines are printed; return that it has no end yet.

        While a peer still waits for others that are gone, nothing starts: the rendezvous is not complete.
        """
        if begun.steps is None:
            return begun
        namespace = pod["metadata"]["namespace"]
        members = {
            (namespace, worker.name): member
            for worker in job.workers
            if worker.name != job.me.name and (member := self._runtime.pods.get(worker.name, namespace))
        }
        uid = str(pod["metadata"]["uid"])
        elsewhere = (self._runs.get(_instance(member)) for member in members.values())
        if any(run is not None and uid not in run.peers.values() for run in elsewhere):
            return Outcome(None, begun.lines, 0.0)
        workers = [worker.name for worker in job.workers]
        per_pod = max(len(job.me.gpus), 1)
        first = workers.index(job.me.name) * per_pod if job.me.name in workers else 0
        self._runs[_instance(pod)] = _Run(
            begun.steps,
            begun.lines,
            {key: str(member["metadata"]["uid"]) for key, member in members.items()},
            range(first, first + per_pod),
            stated_seconds(pod, names.COLLECTIVE_SECONDS, TIMEOUT),
            _given(job, begun.steps),
            time.monotonic(),
        )
        return Outcome(None, begun.lines, 0.0)

    def goes_on(self, pod: Object) -> bool:
        """Return whether a pod is in the middle of a training."""
        run = self._runs.get(_instance(pod))
        return run is not None and run.ended is None

    def forget(self, pod: Object) -> None:
        """Forget a pod that is gone."""
        uid = _instance(pod)[0]
        for instance in [instance for instance in self._runs if instance[0] == uid]:
            del self._runs[instance]

    def outcome(self, pod: Object) -> Outcome | None:
        """Let a training go on until now; return its end, or that it has none yet; None for a pod that has none."""
        run = self._runs.get(_instance(pod))
        if run is None:
            return None
        if run.ended is None:
            gone = [key for key, uid in run.peers.items() if self._is_gone(key, uid)]
            fallen = any(gpus & self._fallen(node) for node, gpus in run.gpus.items())
            if fallen:
                run.ended = self._end(pod, run, lost_ranks.off_the_bus())
            else:
                run.ended = self._stall(pod, run, gone) if gone else self._advance(pod, run)
        return run.ended or Outcome(None, run.lines, 0.0)

    def _advance(self, pod: Object, run: _Run) -> Outcome | None:
        numbers = run.steps.numbers
        until = min(int((time.monotonic() - run.began) / run.steps.seconds), len(numbers))
        for step in numbers[run.done : until]:
            if run.steps.reports:
                self._logs.append(pod, run.steps.tag + run.steps.line(step))
                self._save(pod, run, step)
        run.done = max(run.done, until)
        return Outcome(0, run.lines, 0.0) if run.done == len(numbers) else None

    def _save(self, pod: Object, run: _Run, step: int) -> None:
        if not run.steps.saves(step):
            return
        if run.steps.newest is not None:
            run.steps.newest.parent.mkdir(parents=True, exist_ok=True)
            run.steps.newest.write_text(str(step))
        self._logs.append(pod, f"{run.steps.tag}saved checkpoint of step {step}")

    def _stall(self, pod: Object, run: _Run, gone: Sequence[Key]) -> Outcome | None:
        """Return the end of a rank whose peers are gone, once it has noticed."""
        run.stalled = run.stalled or time.monotonic()
        silent = any(self._is_off(key) for key in gone)
        if time.monotonic() - run.stalled < (run.timeout if silent else CLOSED):
            return None
        name = pod["metadata"]["name"]
        if run.steps.launcher == "mpirun":
            return self._end(pod, run, lost_ranks.mpirun(name, gone[0][1]))
        waited = run.timeout if silent else None
        survivor = lost_ranks.Survivor(name, run.ranks, datetime.now(UTC), run.done * COLLECTIVES, waited)
        return self._end(pod, run, lost_ranks.torchrun(survivor))

    def _end(self, pod: Object, run: _Run, end: lost_ranks.End) -> Outcome:
        lines, code = end
        for line in lines:
            self._logs.append(pod, line)
        return Outcome(code, run.lines, 0.0, lines[-1])

    def _fallen(self, node: str) -> frozenset[int]:
        """Return the GPUs of a node that have fallen off the bus."""
        found = self._runtime.nodes.get(node)
        return frozenset(read_faults(pods.annotations(found).get(names.FAULTS)).gpus_off_the_bus if found else ())

    def _is_off(self, key: Key) -> bool:
        pod = self._runtime.pods.get(key[1], key[0])
        return pod is not None and self._runtime.is_lost(pods.node_name(pod))

    def _is_gone(self, key: Key, uid: str) -> bool:
        """Return whether a peer's processes are gone; one that has succeeded was not needed any more."""
        pod = self._runtime.pods.get(key[1], key[0])
        if pod is None or pod["metadata"]["uid"] != uid:
            return True
        return pods.deleting(pod) or pods.phase(pod) == "Failed" or pods.crashed(pod) or self._is_off(key)


def _given(job: Launched, steps: Steps) -> dict[str, frozenset[int]]:
    """Return the GPUs whose loss ends a pod's program: its own, or for mpirun those of all workers."""
    workers = job.workers if steps.launcher == "mpirun" else (job.me,)
    return {
        name: frozenset(gpu for worker in workers if worker.machine.name == name for gpu in worker.gpus)
        for name in {worker.machine.name for worker in workers}
    }


def _instance(pod: Object) -> tuple[str, int]:
    return str(pod["metadata"]["uid"]), pods.restarts(pod)
