"""Fields of an MPIJob are where its API version has them."""

from collections.abc import Iterator, Mapping
from itertools import islice

from core.apis import mpi_jobs
from core.apis.kinds import MPI_JOB_V2BETA1
from policies.findings import Severity
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.manifests.values import Path, Unknown, brief
from policies.rule import Parameters, Rule

_SPEC: Path = ("spec",)
_RUN_POLICY: Path = ("spec", "runPolicy")
_MOST = 20
_LONGEST = 40


def _examine(subject: Obj, _: Inventory, __: Parameters) -> Iterator[Violation]:
    version = subject.version
    if version not in mpi_jobs.SPEC:
        yield subject.violation(
            f"{subject.api_version} is not a version of MPIJob that has an operator; known: {', '.join(mpi_jobs.SPEC)}",
            "apiVersion",
        )
        return
    yield from islice(_misplaced(subject, version), _MOST)
    for place in (_SPEC, _RUN_POLICY):
        for name, allowed in mpi_jobs.VALUES.items():
            value = subject.read(*place, name)
            if value is not None and not isinstance(value, Unknown) and value not in tuple(allowed):
                yield subject.violation(
                    f"{name} {brief(value)} is not one of {', '.join(sorted(allowed))}", *place, name
                )


def _misplaced(subject: Obj, version: str) -> Iterator[Violation]:
    spec, policy = mpi_jobs.SPEC[version], mpi_jobs.RUN_POLICY[version]
    for name in _names(subject.mapping(*_SPEC)):
        if name not in spec:
            yield subject.violation(f"{_reason(name, version, policy, 'spec.runPolicy')}", *_SPEC, name)
    if "runPolicy" in spec:
        for name in _names(subject.mapping(*_RUN_POLICY)):
            if name not in policy:
                yield subject.violation(f"{_reason(name, version, spec, 'spec')}", *_RUN_POLICY, name)
    replicas = subject.mapping("spec", "mpiReplicaSpecs")
    for role in _names(replicas):
        if role not in ("Launcher", "Worker"):
            message = f"{role[:_LONGEST]} is not part of an MPIJob, whose parts are Launcher and Worker"
            yield subject.violation(message, "spec", "mpiReplicaSpecs", role)
            continue
        for name in _names(subject.mapping("spec", "mpiReplicaSpecs", role)):
            if name not in mpi_jobs.REPLICA:
                message = f"{name[:_LONGEST]} is not a field of a {role}: it has {', '.join(sorted(mpi_jobs.REPLICA))}"
                yield subject.violation(message, "spec", "mpiReplicaSpecs", role, name)


def _names(mapping: Mapping[str, object]) -> Iterator[str]:
    return (name for name in mapping if isinstance(name, str))


def _reason(name: str, version: str, elsewhere: mpi_jobs.Fields, place: str) -> str:
    """Return what a field is in this version: moved, of another version, or unknown."""
    if name in elsewhere:
        return f"{name} is at {place}.{name} in {version}"
    others = [other for other in mpi_jobs.SPEC if name in mpi_jobs.SPEC[other] | mpi_jobs.RUN_POLICY[other]]
    if others:
        return f"{name} is not a field of {version}, only of {', '.join(others)}"
    former = " but of v1alpha1" if name in mpi_jobs.FORMER else ""
    return f"{name[:_LONGEST]} is not a field of {version}{former}"


MPI_FIELDS_OF_VERSION = Rule(
    name="mpi-fields-of-version",
    what="Fields of an MPIJob's spec, runPolicy and replicas are those of its API version, with values that it "
    "accepts.",
    why="A misplaced field is dropped silently by one API server and refused by another (strict decoding error: "
    "unknown field spec.cleanPodPolicy). If it is dropped, the workers keep their GPUs after the job has finished.",
    remedy="Move the field to where this version of MPIJob has it, or move the job to the version that has the field",
    source="E-20, platform-facts 1.7",
    severity=Severity.MANDATORY,
    parameters=Parameters,
    examine=_examine,
    kinds=(MPI_JOB_V2BETA1,),
)
