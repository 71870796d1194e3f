"""Names of MPIJobs: what they say of the layout, and what becomes of them in pods' names."""

import re
from collections.abc import Iterator

from pydantic import Field

from core.apis import mpirun
from core.apis.kinds import MPI_JOB_V2BETA1
from core.apis.quantity import whole
from core.wording import plural
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.manifests.values import Unknown, brief
from policies.rule import Parameters, Rule, Severity
from policies.views.devices import MOST_GPUS, NOT_KNOWN, USUAL_GPUS
from policies.views.mpi_jobs import LAUNCHER, WORKER, MpiJobView

_LAYOUT = re.compile(r"(?<![0-9a-z])(\d\d)x(\d\d)(?:x(\d\d))?(?![0-9a-z])")


class MpiName(Parameters):
    """What a node can hold."""

    gpus_per_node: int | None = Field(
        default=None,
        gt=0,
        description="GPUs of a node; default: of the stack's machines, and without a stack unknown, "
        f"so that more than {MOST_GPUS} are refused and more than {USUAL_GPUS} are undetermined",
    )


def _mpi_name(subject: Obj, _: Inventory, parameters: MpiName) -> Iterator[Violation]:
    match = _LAYOUT.search(subject.name[:253])
    if match is None:
        return
    pods, gpus = int(match[1]), int(match[2])
    job = MpiJobView(subject)
    workers = job.workers
    if workers is not None and workers != pods:
        yield subject.violation(
            f"the name means {plural(pods, 'pod')}, and the job has {plural(workers, 'worker')}", "metadata", "name"
        )
    worker_gpus = job.gpus
    if worker_gpus is not None and worker_gpus != gpus and not subject.hidden(*WORKER, "template"):
        yield subject.violation(
            f"the name means {plural(gpus, 'GPU')} per pod, and a worker has {worker_gpus}", "metadata", "name"
        )
    nodes = int(match[3]) if match[3] else None
    if nodes is not None and not 0 < nodes <= pods:
        yield subject.violation(f"the name means {plural(nodes, 'node')} for {plural(pods, 'pod')}", "metadata", "name")
    elif nodes is not None:
        yield from _nodes(subject, nodes, pods, gpus, parameters.gpus_per_node)


def _nodes(subject: Obj, nodes: int, pods: int, gpus: int, per_node: int | None) -> Iterator[Violation]:
    need = f"{plural(pods, 'pod')} x {plural(gpus, 'GPU')} need {pods * gpus}"
    name = f"the name means {plural(nodes, 'node')}"
    if pods * gpus > nodes * (per_node or MOST_GPUS):
        most = f"with {'' if per_node else 'at most '}{nodes * (per_node or MOST_GPUS)} GPUs"
        yield subject.violation(f"{name} {most}, and {need}", "metadata", "name")
    elif per_node is None and pods * gpus > nodes * USUAL_GPUS:
        yield subject.unverified(f"{name}, {need}, {NOT_KNOWN}", "metadata", "name")


MPI_NAME = Rule(
    name="mpi-name",
    what="A job called <base>-PPxGGxNN runs PP pods with GG GPUs each on NN nodes.",
    why="Results are stored and compared by the job's name. A 16x01 run (5.7 GB/s) that is named 02x08 is compared "
    "with 55 GB/s, and the loss is sought in the fabric.",
    remedy="Rename the job after its layout, or correct Worker.replicas and the workers' nvidia.com/gpu",
    source="R-4.3-2",
    severity=Severity.MANDATORY,
    parameters=MpiName,
    examine=_mpi_name,
    kinds=(MPI_JOB_V2BETA1,),
)


_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?\Z")
_LONGEST_LABEL = 63
_LONGEST_STATEFUL_SET = 52  # its pods carry its name and a hash of ten digits in one label
_NAME = ("metadata", "name")


def _mpi_worker_names(subject: Obj, _: Inventory, __: Parameters) -> Iterator[Violation]:
    v2 = subject.version == MPI_JOB_V2BETA1.version
    yield from _replicas(subject, v2=v2)
    name = subject.read(*_NAME)
    if not isinstance(name, str) or name.startswith("("):  # named by the engine, later
        return
    workers = whole(subject.read(*WORKER, "replicas")) or 1
    last = f"{name}-worker-{max(workers, 1) - 1}"
    if len(last) > _LONGEST_LABEL or not _LABEL.match(last):
        yield subject.violation(
            f"the last worker would be called {last[:80]!r}, {len(last)} characters, which is not a DNS label of at "
            f"most {_LONGEST_LABEL}",
            *_NAME,
        )
    elif not name[0].isalpha():
        consequence = "the operator refuses it" if v2 else f"{subject.version} takes it, v2beta1 refuses it"
        yield subject.violation(f"{name!r} starts with a digit, which no service may: {consequence}", *_NAME)
    elif subject.version == "v1alpha2" and len(f"{name}-worker") > _LONGEST_STATEFUL_SET:
        yield subject.violation(
            f"the workers' StatefulSet {name}-worker has more than {_LONGEST_STATEFUL_SET} characters, too long for "
            "the label controller-revision-hash of its pods",
            *_NAME,
        )


def _replicas(subject: Obj, *, v2: bool) -> Iterator[Violation]:
    launchers = subject.read(*LAUNCHER, "replicas")
    if subject.read(*LAUNCHER) is None:
        yield subject.violation("has no Launcher", *LAUNCHER)
    elif launchers is not None and not isinstance(launchers, Unknown) and whole(launchers) != 1:
        yield subject.violation(f"has {brief(launchers)} launchers instead of one", *LAUNCHER, "replicas")
    worker = subject.read(*WORKER)
    workers = subject.read(*WORKER, "replicas")
    if worker is None or isinstance(workers, Unknown):
        pass
    elif workers is None and v2:
        yield subject.violation("does not set how many workers it has, which means none", *WORKER, "replicas")
    elif workers is not None and (whole(workers) or 0) < 1:
        yield subject.violation(f"has {brief(workers)} workers", *WORKER, "replicas")
    for place in (LAUNCHER, WORKER) if v2 else ():
        policy = subject.read(*place, "restartPolicy")
        if policy is not None and not isinstance(policy, Unknown) and policy not in tuple(mpirun.RESTART_POLICIES):
            yield subject.violation(
                f"restartPolicy {brief(policy)} is not one of {', '.join(sorted(mpirun.RESTART_POLICIES))}",
                *place,
                "restartPolicy",
            )
    for place in (LAUNCHER, WORKER):
        if subject.read(*place) is not None and subject.read(*place, "template", "spec", "containers") in (None, []):
            yield subject.violation("has no container", *place, "template", "spec", "containers")


MPI_WORKER_NAMES = Rule(
    name="mpi-worker-names",
    what="<name>-worker-<last> is a DNS label of at most 63 characters that starts with a letter; the job has one "
    "launcher and at least one worker.",
    why="The v2beta1 operator ends such a job at once (will not able to create pod and service with invalid DNS "
    "label); the v1alpha2 operator creates a StatefulSet whose pods never appear, and the launcher waits for them.",
    remedy="Give the job a shorter name that starts with a letter, Launcher.replicas 1 and Worker.replicas at least 1",
    source="E-20, E-54",
    severity=Severity.MANDATORY,
    examine=_mpi_worker_names,
    kinds=(MPI_JOB_V2BETA1,),
)
