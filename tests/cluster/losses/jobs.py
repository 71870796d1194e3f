"""Jobs of three kinds as the stack declares them, of two pods with all GPUs of a node, which train step by step."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal

from components.base.scheduling import Toleration
from components.jobs import mpi_job, torch_job, train_job
from components.jobs.job_args import RunAs
from components.jobs.layout import Layout
from components.jobs.mpi_job import MpiJobArgs, V2Beta1
from components.jobs.resilience import Resilience
from components.jobs.torch_job import TorchJobArgs
from components.jobs.train_job import TrainJobArgs
from core.apis import kinds, names
from core.apis.kinds import Kind
from core.apis.nccl import Transport
from core.project import PRODUCT
from toolkit.simulator import names as simulated

Manifest = dict[str, Any]
Name = Literal["Job", "TrainJob", "MPIJob"]

KINDS: Mapping[Name, Kind] = MappingProxyType(
    {"Job": kinds.JOB, "TrainJob": kinds.TRAIN_JOB, "MPIJob": kinds.MPI_JOB_V2BETA1}
)
CLAIM = "data"
LAUNCHERS = {"test/launchers": "true"}
"""Label of the nodes where launchers run; all controllers are on another node without GPUs."""
TAINT = "nvidia.com/gpu"
LOST_AFTER = 2
"""Seconds that pods stay on a lost node, in the place of 30."""
SILENT = 14
"""Seconds until ranks give up on a silent one, in the place of 600: as there, after the node's loss is noticed."""
SECONDS, STEPS, EVERY = 180, 1800, 20
"""Of a whole training, which no test waits for: ten steps a second, and a checkpoint every two seconds."""
RESILIENCE: Mapping[Name, Resilience] = MappingProxyType(
    {
        "Job": Resilience(restart="pods", limit=6, lost_after=LOST_AFTER),
        "TrainJob": Resilience(restart="all", limit=6, count_disruptions=False, lost_after=LOST_AFTER),
        "MPIJob": Resilience(restart="ranks", limit=6, lost_after=LOST_AFTER),
    }
)
"""What each kind can do at most."""
_SCRIPT = (PRODUCT / "stacks/scripts/synthetic_training.py").read_text()


def manifests(kind: Name, name: str, namespace: str, uid: int, **changes: Any) -> Sequence[tuple[Kind, Manifest]]:
    """Return a job in the queue `jobs` and what it needs, in order; `changes` are those of its arguments."""
    trains = (
        *("python3", "-c", _SCRIPT, "--steps", str(STEPS)),
        *("--checkpoint", f"/data/{name}", "--every", str(EVERY)),
    )
    common: Manifest = {
        "namespace": namespace,
        "job_name": name,
        "layout": Layout(pods=2, gpus=8),
        "processes_per_pod": 8,
        "transport": Transport.TCP,
        "command": trains if kind == "MPIJob" else ("--no-python", *trains),
        "image": "nvcr.io/nvidia/pytorch:25.06-py3",
        "account": "mpi",
        "run_as": RunAs(uid=uid, gid=uid),
        "volumes": {"data": {"kind": "claim", "claim": CLAIM}},
        "mounts": {"/data": ""},
        "cpus": 1,
        "memory": "1Gi",
        "shm": "64Mi",
        "tolerations": (Toleration(key=TAINT),),
        "resilience": RESILIENCE[kind],
        **changes,
    }
    made = _JOBS[kind](common)
    made[-1][1]["metadata"]["labels"] = {names.QUEUE_NAME: "jobs"}
    return made


def _named(kind: Kind, args: Manifest, spec: Manifest) -> tuple[Kind, Manifest]:
    meta = {"name": args["job_name"], "namespace": args["namespace"]}
    return kind, {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": meta, "spec": spec}


def _timed(template: Manifest) -> None:
    """Let the pods of a template train for a while, and give up on a silent peer soon."""
    marks = {simulated.TAKES: str(SECONDS), simulated.COLLECTIVE_SECONDS: str(SILENT)}
    meta = template.setdefault("metadata", {})
    meta["annotations"] = {**(meta.get("annotations") or {}), **marks}


def _job(common: Manifest) -> list[tuple[Kind, Manifest]]:
    args = TorchJobArgs.model_validate(common | {"queue": "jobs"})
    spec = torch_job.spec(args)
    _timed(spec["template"])
    return [_named(kinds.JOB, common, spec)]


def _train_job(common: Manifest) -> list[tuple[Kind, Manifest]]:
    args = TrainJobArgs.model_validate(common | {"queue": "jobs", "runtime": "hpc-torch"})
    spec = train_job.spec(args)
    (patch,) = spec["runtimePatches"]
    (replicated,) = patch["trainingRuntimeSpec"]["template"]["spec"]["replicatedJobs"]
    _timed(replicated["template"]["spec"]["template"])
    runtime = train_job.runtime_spec(args.shm, args.resilience)
    return [_named(kinds.TRAINING_RUNTIME, common, runtime), _named(kinds.TRAIN_JOB, common, spec)]


def _mpi_job(common: Manifest) -> list[tuple[Kind, Manifest]]:
    args = MpiJobArgs.model_validate(common | {"kind": kinds.MPI_JOB_V2BETA1, "v2beta1": V2Beta1(queue="jobs")})
    spec = mpi_job.spec(args)
    launcher = spec["mpiReplicaSpecs"]["Launcher"]["template"]
    launcher["spec"]["nodeSelector"] = dict(LAUNCHERS)  # off the nodes that tests lose
    _timed(launcher)
    return [_named(kinds.MPI_JOB_V2BETA1, common, spec)]


_JOBS = {"Job": _job, "TrainJob": _train_job, "MPIJob": _mpi_job}
