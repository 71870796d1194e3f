"""The versions of MPIJob: their fields, and the one operator that serves them."""

from collections.abc import Iterator, Mapping
from itertools import islice

from core.apis import mpirun
from core.apis.kinds import CUSTOM_RESOURCE_DEFINITION, DEPLOYMENT, MPI_JOB_V2BETA1
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.manifests.pods import Container
from policies.manifests.values import Path, Unknown, brief
from policies.rule import Parameters, Rule, Severity

_SPEC: Path = ("spec",)
_RUN_POLICY: Path = ("spec", "runPolicy")
_MOST = 20
_LONGEST = 40


def _mpi_fields_of_version(subject: Obj, _: Inventory, __: Parameters) -> Iterator[Violation]:
    version = subject.version
    if version not in mpirun.SPEC:
        yield subject.violation(
            f"{subject.api_version} is not a version of MPIJob that has an operator; known: {', '.join(mpirun.SPEC)}",
            "apiVersion",
        )
        return
    yield from islice(_misplaced(subject, version), _MOST)
    for place in (_SPEC, _RUN_POLICY):
        for name, allowed in mpirun.VALUES.items():
            value = subject.read(*place, name)
            if value is not None and not isinstance(value, Unknown) and value not in tuple(allowed):
                yield subject.violation(
                    f"{name} {brief(value)} is not one of {', '.join(sorted(allowed))}", *place, name
                )


def _misplaced(subject: Obj, version: str) -> Iterator[Violation]:
    spec, policy = mpirun.SPEC[version], mpirun.RUN_POLICY[version]
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
            if name not in mpirun.REPLICA:
                message = f"{name[:_LONGEST]} is not a field of a {role}: it has {', '.join(sorted(mpirun.REPLICA))}"
                yield subject.violation(message, "spec", "mpiReplicaSpecs", role, name)


def _names(mapping: Mapping[str, object]) -> Iterator[str]:
    return (name for name in mapping if isinstance(name, str))


def _reason(name: str, version: str, elsewhere: mpirun.Fields, place: str) -> str:
    if name in elsewhere:
        return f"{name} is at {place}.{name} in {version}"
    others = [other for other in mpirun.SPEC if name in mpirun.SPEC[other] | mpirun.RUN_POLICY[other]]
    if others:
        return f"{name} is not a field of {version}, only of {', '.join(others)}"
    former = " but of v1alpha1" if name in mpirun.FORMER else ""
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
    examine=_mpi_fields_of_version,
    kinds=(MPI_JOB_V2BETA1,),
)


DEFINITION = f"{MPI_JOB_V2BETA1.plural}.{MPI_JOB_V2BETA1.group}"


def _mpi_one_crd_owner(subject: Obj, inventory: Inventory, _: Parameters) -> Iterator[Violation]:
    if subject.kind == MPI_JOB_V2BETA1.kind:
        yield from _unserved_version(subject, inventory.once(_definitions))
        return
    deployment = subject.kind == DEPLOYMENT.kind
    owners = inventory.once(_operators if deployment else _definitions)
    is_owner = _is_operator(subject) if deployment else subject.name == DEFINITION
    if is_owner and owners and subject != owners[0]:
        yield subject.violation(f"is a second owner of {DEFINITION}, beside {owners[0]}", "metadata", "name")


def _definitions(inventory: Inventory) -> tuple[Obj, ...]:
    return tuple(definition for definition in inventory.of(CUSTOM_RESOURCE_DEFINITION) if definition.name == DEFINITION)


def _operators(inventory: Inventory) -> tuple[Obj, ...]:
    return tuple(deployment for deployment in inventory.of(DEPLOYMENT) if _is_operator(deployment))


def _is_operator(deployment: Obj) -> bool:
    return any(_runs_operator(container) for container in deployment.containers)


def _runs_operator(container: Container) -> bool:
    repository = container.text("image").partition("@")[0].rpartition("/")[2].partition(":")[0]
    if repository == "mpi-operator":
        return True
    return repository == "training-operator" and _handles_mpi_jobs(container)


def _handles_mpi_jobs(container: Container) -> bool:
    """Return whether a training operator handles MPIJobs: it does unless its schemes are listed without them."""
    words = [word for group in ("command", "args") for word in container.entries(group) if isinstance(word, str)]
    schemes = []
    for index, word in enumerate(words):
        option, equals, value = word.lstrip("-").partition("=")
        if word.startswith("-") and option == "enable-scheme":
            schemes.append(value if equals else words[index + 1] if index + 1 < len(words) else "")
    return not schemes or any("mpijob" in scheme.lower() for scheme in schemes)


def _unserved_version(job: Obj, definitions: tuple[Obj, ...]) -> Iterator[Violation]:
    if not definitions:
        return  # it comes with the operator, and another object's rule asks for that
    versions = {name for definition in definitions for name in _versions(definition)}
    if job.version in versions:
        return
    if any(definition.hidden("spec", "versions") for definition in definitions):
        yield job.unverified(f"the versions of the definition {DEFINITION} are unknown until the update", "apiVersion")
    else:
        served = ", ".join(sorted(versions))[:80]
        message = f"{job.api_version} is not served by the definition {DEFINITION}, which has {served}"
        yield job.violation(message, "apiVersion")


def _versions(definition: Obj) -> Iterator[str]:
    for version in definition.entries("spec", "versions"):
        if isinstance(version, Mapping) and version.get("served") is not False:
            name = version.get("name")
            if isinstance(name, str):
                yield name
    if single := definition.text("spec", "version"):  # of apiextensions.k8s.io/v1beta1
        yield single


MPI_ONE_CRD_OWNER = Rule(
    name="mpi-one-crd-owner",
    what=f"There is one CRD {DEFINITION} and one operator for it, and MPIJobs use a version that it serves.",
    why="All generations of MPIJob share the name of their CRD. Two operators overwrite it in turn, and jobs of the "
    'other generation get no pods (no matches for kind "MPIJob" in version "kubeflow.org/v1alpha2").',
    remedy="Keep one operator and one CRD; start a training-operator with --enable-scheme for each other kind",
    source="E-20, platform-facts 1.7",
    severity=Severity.MANDATORY,
    examine=_mpi_one_crd_owner,
    kinds=(MPI_JOB_V2BETA1, CUSTOM_RESOURCE_DEFINITION, DEPLOYMENT),
    links=True,
)
