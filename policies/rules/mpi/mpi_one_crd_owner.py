"""The kind MPIJob has one definition and one operator, which serve the versions in use."""

from collections.abc import Iterator, Mapping

from core.apis.kinds import CUSTOM_RESOURCE_DEFINITION, DEPLOYMENT, MPI_JOB_V2BETA1
from policies.findings import Severity
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.manifests.pods import Container
from policies.rule import Parameters, Rule

DEFINITION = f"{MPI_JOB_V2BETA1.plural}.{MPI_JOB_V2BETA1.group}"
_SCHEME = "enable-scheme"


def _examine(subject: Obj, inventory: Inventory, _: Parameters) -> Iterator[Violation]:
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
        if word.startswith("-") and option == _SCHEME:
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
    parameters=Parameters,
    examine=_examine,
    kinds=(MPI_JOB_V2BETA1, CUSTOM_RESOURCE_DEFINITION, DEPLOYMENT),
    links=True,
)
