"""The names of an MPIJob's pods are possible, and it has one launcher and at least one worker."""

import re
from collections.abc import Iterator

from core.apis import mpi_jobs
from core.apis.kinds import MPI_JOB_V2BETA1
from core.apis.quantity import whole
from policies.findings import Severity
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.manifests.values import Unknown, brief
from policies.rule import Parameters, Rule
from policies.views.mpi_jobs import LAUNCHER, WORKER

_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?\Z")
_LONGEST_LABEL = 63
_LONGEST_STATEFUL_SET = 52  # its pods carry its name and a hash of ten digits in one label
_NAME = ("metadata", "name")


def _examine(subject: Obj, _: Inventory, __: Parameters) -> Iterator[Violation]:
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
        if policy is not None and not isinstance(policy, Unknown) and policy not in tuple(mpi_jobs.RESTART_POLICIES):
            yield subject.violation(
                f"restartPolicy {brief(policy)} is not one of {', '.join(sorted(mpi_jobs.RESTART_POLICIES))}",
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
    parameters=Parameters,
    examine=_examine,
    kinds=(MPI_JOB_V2BETA1,),
)
