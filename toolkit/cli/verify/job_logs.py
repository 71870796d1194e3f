"""Collects the logs of a stack's jobs from its cluster, real or simulated, into files, and reads them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from core.apis import kinds, names
from core.progress import Step
from policies.manifests.values import read as value
from toolkit.cli.shared import metadata
from toolkit.cli.shared.cluster_client import Cluster, RefusedError
from toolkit.cli.status.jobs import Job as Seen
from toolkit.cli.verify import job_times
from toolkit.evidence import metrics
from toolkit.evidence.goodput.reading import read_logs
from toolkit.evidence.model import Reading
from toolkit.evidence.verdict import Ended, Job, Request
from toolkit.evidence.wording import listed

Object = Mapping[str, Any]

ROLE = (names.MPI_ROLE, names.MPI_ROLE_V2BETA1)
OWNER = (names.MPI_JOB_NAME, names.MPI_JOB_NAME_V2BETA1, names.JOBSET_NAME, names.JOB_NAME)
"""Labels of pods: the role in an MPIJob, and the job, of v1alpha2, v2beta1, a TrainJob, and batch."""
_ENDS = {"Succeeded": Ended.SUCCEEDED, "Failed": Ended.FAILED, "Running": Ended.RUNNING}
"""State of a job -> how far it got; the phase of the pod that brought it there has the same name."""


def collect(cluster: Cluster, requests: Sequence[Request], seen: Iterable[Seen], folder: Path, step: Step) -> list[Job]:
    """Return the jobs with their logs, read; each pod's log is a file `<namespace>_<job>/<pod>.log` of `folder`.

    Only pods that print a job's results are read: launchers of MPIJobs, and the pods of TrainJobs and batch jobs; of
    several the one that decided the job's state. What the server refuses is reported at the job that it concerns
    (`why`). Raises Problem when the server cannot be reached.
    """
    states = {f"{state.namespace}/{state.name}": state for state in seen}
    pods: dict[str, Sequence[Object]] = {}
    workloads: dict[str, Sequence[Object]] = {}
    refused: dict[str, str] = {}
    logs = _Logs(cluster)
    jobs = []
    for number, request in enumerate(requests):
        step.update(number, len(requests), request.job)
        namespace, _, name = request.job.partition("/")
        if namespace not in pods:
            try:
                pods[namespace] = cluster.list(kinds.POD, namespace)
            except RefusedError as error:
                pods[namespace], refused[namespace] = (), f"the pods of {namespace} cannot be read: {error.reason}"
        if request.goodput is not None and namespace not in workloads:
            workloads[namespace] = _workloads(cluster, namespace)
        queued = workloads.get(namespace, ())
        job = _Job(request, states.get(request.job), pods[namespace], folder / f"{namespace}_{name}", queued)
        jobs.append(job.read(logs, refused.get(namespace)))
    step.update(len(requests), len(requests))
    return jobs


def _workloads(cluster: Cluster, namespace: str) -> Sequence[Object]:
    """Return Kueue's workloads of a namespace; none where there is no Kueue, or where it may not be read."""
    try:
        return cluster.list(kinds.WORKLOAD, namespace)
    except RefusedError:
        return ()


def printing(pods: Iterable[Object], job: str) -> list[Object]:
    """Return the pods of a job whose logs are its results, the oldest first."""
    mine = [
        pod
        for pod in pods
        if _is_of(pod, job) and all(metadata.labels(pod).get(role, "launcher") == "launcher" for role in ROLE)
    ]
    return sorted(mine, key=lambda pod: str(value(pod, "metadata", "creationTimestamp")))


@dataclass(frozen=True)
class _Job:
    """A job that is collected."""

    request: Request
    seen: Seen | None
    pods: Sequence[Object]
    """Of its namespace."""
    folder: Path
    """Of its logs."""
    workloads: Sequence[Object] = ()
    """Kueue's of its namespace, where its goodput is measured."""

    @property
    def name(self) -> str:
        return self.request.job.partition("/")[2]

    def read(self, of_cluster: "_Logs", refused: str | None) -> Job:
        """Return the job with its readings; `refused` is the server's message where it does not list its pods."""
        mine = printing(self.pods, self.name)
        why = [] if self.seen is None else [*self.seen.hindrances]
        logs: dict[str, Path | None] = {}
        for pod in mine:
            try:
                logs[metadata.name(pod)] = of_cluster.fetch(pod, self.folder, timed=self.request.goodput is not None)
            except RefusedError as error:
                why.append(f"the log of {metadata.name(pod)} cannot be read: {error.reason}")
        judged = self._judged(mine)
        file = self._one_file({metadata.name(pod): logs.get(metadata.name(pod)) for pod in judged})
        why += [refused] if refused else self._notes(judged, [metadata.name(pod) for pod in mine], logs)
        if self.seen is None:
            why.insert(0, "the cluster has no such job")
        readings = metrics.read_log(file, self.request.metrics) if file is not None else ()
        image = str(judged[0]["spec"]["containers"][0].get("image", "")) if judged else None
        return Job(
            request=self.request.model_copy(update={"nodes": self.request.nodes or self._nodes(judged)}),
            ended=Ended.ABSENT if self.seen is None else _ENDS.get(self.seen.state, Ended.WAITING),
            why="; ".join(why) or None,
            seconds=None if self.seen is None else self.seen.seconds,
            readings=(*readings, *self._goodput(mine, [log for log in logs.values() if log is not None])),
            versions={"image": image} if image is not None else {},
        )

    def _goodput(self, pods: Sequence[Object], logs: Sequence[Path]) -> Iterator[Reading]:
        """Yield the goodput of all attempts together."""
        if self.request.goodput is not None and logs:
            of_cluster = job_times.events(self.name, pods, self.workloads)
            yield read_logs(logs, self.request.goodput, of_cluster)

    def _judged(self, mine: Sequence[Object]) -> Sequence[Object]:
        """Return the newest pod that came out as the job did, of an Indexed Job one of each index.

        Earlier attempts are none of its result.
        """
        state = self.seen.state if self.seen is not None else None
        attempts: dict[str, list[Object]] = {}
        for pod in mine:
            attempts.setdefault(metadata.annotations(pod).get(names.COMPLETION_INDEX, ""), []).append(pod)
        by_index = sorted(attempts.items(), key=lambda attempt: (len(attempt[0]), attempt[0]))
        return [([pod for pod in some if value(pod, "status", "phase") == state] or some)[-1] for _, some in by_index]

    def _one_file(self, logs: Mapping[str, Path | None]) -> Path | None:
        """Return the log of the pods, of several in one file with the prefixes of `kubectl logs --prefix`."""
        files = {name: file for name, file in logs.items() if file is not None}
        if len(files) < 2:  # noqa: PLR2004 - one pod's log is as it is
            return next(iter(files.values()), None)
        whole = self.folder / "all-pods.log"
        with whole.open("wb") as output:
            for name, file in files.items():
                prefix = f"[pod/{name}/{self.name}] ".encode()
                with file.open("rb") as lines:
                    output.writelines(prefix + line.rstrip(b"\n") + b"\n" for line in lines)
        return whole

    def _notes(self, judged: Sequence[Object], pods: Sequence[str], logs: Mapping[str, Path | None]) -> list[str]:
        """Return what a reader has to know of the logs."""
        if not judged:
            return [self._gone()] if self.seen is not None and self.seen.state in ("Succeeded", "Failed") else []
        shown = [metadata.name(pod) for pod in judged]
        notes = []
        if len(pods) > len(shown):
            others = ", ".join(f"{name}.log" for name in pods if logs.get(name) and name not in shown)
            rest = f"; {self.folder} has {others}" if others else ""
            notes.append(f"of {len(pods)} attempts {listed(shown)} {'is' if len(shown) == 1 else 'are'} judged{rest}")
        for pod, name in zip(judged, shown, strict=True):
            restarts = value(pod, "status", "containerStatuses", 0, "restartCount") or 0
            if restarts:
                notes.append(f"{name} was restarted {restarts} times, and its log is that of the last start")
            if self.seen is not None and self.seen.state in _ENDS and logs.get(name, judged) is None:
                notes.append(f"{name} has no log yet")
        return notes

    def _gone(self) -> str:
        earlier = ", ".join(sorted(file.name for file in self.folder.glob("*.log")))
        kept = f", or judge the logs of an earlier verification in {self.folder} with -f: {earlier}" if earlier else ""
        return f"its pods are gone: run it again (raise its `run`){kept}"

    def _nodes(self, judged: Sequence[Object]) -> tuple[str, ...]:
        """Return the nodes of the pods with GPUs, by the pods and by events; none while some pod's is not known."""
        workers = [pod for pod in self.pods if _is_of(pod, self.name) and _role(pod) == "worker"]
        shown = workers or [pod for pod in judged if _role(pod) is None]
        placed = {} if self.seen is None or (shown and not workers) else dict(self.seen.placed)
        placed |= {metadata.name(pod): str(node) for pod in shown if (node := value(pod, "spec", "nodeName"))}
        shape = self.request.shape
        return () if shape is not None and len(placed) < shape.pods else tuple(sorted({*placed.values()}))


def _is_of(pod: Object, job: str) -> bool:
    return job in map(metadata.labels(pod).get, OWNER)


def _role(pod: Object) -> str | None:
    return next((str(metadata.labels(pod)[role]) for role in ROLE if role in metadata.labels(pod)), None)


@dataclass(frozen=True)
class _Logs:
    """The logs of a cluster."""

    cluster: Cluster
    silent: dict[str, RefusedError] = field(default_factory=dict)
    """Node -> the error when it returned no log in time: a lost node takes a minute, and not one for each pod."""

    def fetch(self, pod: Object, folder: Path, *, timed: bool = False) -> Path | None:
        """Write the log of a pod's first container, `timed` with the time of each line.

        Returns None for a pod that has none yet. Raises RefusedError.
        """
        meta, container, node = pod["metadata"], pod["spec"]["containers"][0]["name"], value(pod, "spec", "nodeName")
        if node in self.silent:
            raise self.silent[node]
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / f"{meta['name']}.log"
        path = f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}/log"
        try:
            query = {"container": container, **({"timestamps": "true"} if timed else {})}
            return file if self.cluster.download(path, file, **query) else None
        except RefusedError as error:
            if error.late and node:
                self.silent[node] = error
            raise
