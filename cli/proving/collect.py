"""Collects the logs of a stack's jobs from its cluster, real or simulated, into files, and reads them."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from apis import kinds
from cli.live import Cluster
from cli.overview.jobs import Job as Seen
from evidence.model import Reading
from evidence.reader import read
from evidence.verdict import Asked, Ended, Job
from policies.values import read as value
from simulator.progress import Step

Object = Mapping[str, Any]

ROLE = ("mpi_role_type", "training.kubeflow.org/job-role")
OWNER = ("mpi_job_name", "training.kubeflow.org/job-name", "job-name")
"""Labels of pods: the role in an MPIJob, and the job, of v1alpha2, v2beta1, and batch."""
_ENDS = {"Succeeded": Ended.SUCCEEDED, "Failed": Ended.FAILED, "Running": Ended.RUNNING}


def collect(cluster: Cluster, wanted: Sequence[Asked], seen: Iterable[Seen], folder: Path, step: Step) -> list[Job]:
    """Return the jobs with what their logs hold; each pod's log is a file `<namespace>_<job>/<pod>.log` of `folder`.

    Only pods that print a job's results are read: launchers of MPIJobs, and the pods of batch jobs.
    """
    states = {f"{one.namespace}/{one.name}": one for one in seen}
    pods: dict[str, Sequence[Object]] = {}
    found = []
    for number, each in enumerate(wanted):
        step.update(number, len(wanted), each.job)
        namespace, _, name = each.job.partition("/")
        if namespace not in pods:
            pods[namespace] = cluster.list(kinds.POD, namespace)
        mine = printing(pods[namespace], name)
        files = [_download(cluster, pod, folder / f"{namespace}_{name}") for pod in mine]
        readings = [reading for file in files if file is not None for reading in read(file)]
        images = {str(pod["spec"]["containers"][0].get("image", "")) for pod in mine}
        found.append(_job(each, states.get(each.job), readings, images))
    step.update(len(wanted), len(wanted))
    return found


def printing(pods: Iterable[Object], job: str) -> list[Object]:
    """Return the pods of a job whose logs are its results, the oldest first."""
    mine = [
        pod
        for pod in pods
        if job in map((labels := value(pod, "metadata", "labels") or {}).get, OWNER)
        and all(labels.get(role, "launcher") == "launcher" for role in ROLE)
    ]
    return sorted(mine, key=lambda pod: str(value(pod, "metadata", "creationTimestamp")))


def _download(cluster: Cluster, pod: Object, folder: Path) -> Path | None:
    """Write the log of a pod's first container; return None for a pod that has none yet."""
    meta, container = pod["metadata"], pod["spec"]["containers"][0]["name"]
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{meta['name']}.log"
    path = f"/api/v1/namespaces/{meta['namespace']}/pods/{meta['name']}/log"
    return file if cluster.download(path, file, container=container) else None


def _job(wanted: Asked, seen: Seen | None, readings: Sequence[Reading], images: Iterable[str]) -> Job:
    versions = {"image": ", ".join(sorted(images))} if images else {}
    if seen is None:
        why = "it is not on the cluster"
        return Job(asked=wanted, ended=Ended.ABSENT, why=why, readings=tuple(readings), versions=versions)
    return Job(
        asked=wanted.model_copy(update={"nodes": wanted.nodes or seen.nodes}),
        ended=_ENDS.get(seen.state, Ended.WAITING),
        why="; ".join(seen.hindrances) or None,
        seconds=seen.seconds,
        readings=tuple(readings),
        versions=versions,
    )
