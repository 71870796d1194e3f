"""Which release a stack's simulated cluster was created for, and how it gets to a later one."""

from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.simulated import spec as specs
from toolkit.cli.shared.stack import Stack
from toolkit.engine.tools.table import KUBERNETES
from toolkit.simulator import state as states
from toolkit.simulator.home import Layout
from toolkit.simulator.spec import ClusterSpec

_PAGE = "docs/guide/upgrade.md"


def fitting(stack: Stack) -> ClusterSpec:
    """Return the simulated cluster that a stack wants, or the one that has been raised to that.

    Raises Problem when the cluster is there and was created for another release: what admits its pods and runs its jobs
    would change under what is on it, and its API server.
    """
    needed, made = specs.of(stack), _made(stack)
    if made is None:
        return needed
    if _same_generation(made, kept := _kept(made, needed)):
        return kept
    remedy = (
        f"`./hpc sim clean --name {stack.cluster_name}` removes it with all that is on it, or work on another cluster "
        "(`--name`)."
    )
    if _leads_up(made, needed):
        remedy = (
            f"`./hpc sim up {stack.options} --raise` brings it there with all that is on it: see {_PAGE}, "
            f"there are steps before that. Else {remedy}"
        )
    raise Problem(_difference(stack, made, needed), remedy)


def raised(stack: Stack) -> tuple[ClusterSpec, str]:
    """Return the stack's simulated cluster at the stack's release, and a line about what becomes of it.

    Raises Problem where there is no way up: no cluster, one of that release already, or one of a later release.
    """
    needed, made = specs.of(stack), _made(stack)
    if made is None:
        raise Problem(
            f"there is no simulated cluster {stack.cluster_name} to raise",
            f"`./hpc up {stack.options}` creates one of release {stack.settings.release}.",
        )
    if not _leads_up(made, needed):
        raise Problem(
            f"{_difference(stack, made, needed)}: that is not an upgrade",
            "A cluster can be raised from release 4.4, or to a later Kubernetes, when its stack has changed to such a "
            f"release: {_PAGE}.",
        )
    gets, stay = "API server, controllers and scheduler of that version", "objects, data, port and Pulumi state stay"
    if made.release != (kept := _kept(made, needed)).release:
        gets, stay = "SCCs, roles and MPI operator of that release", f"{stay}, the old SCC restricted too"
    return kept, (
        f"raising simulated cluster {stack.cluster_name} from {_of(made)} to {_of(needed)}: it gets {gets}; {stay}"
    )


def kubernetes(stack: Stack) -> str:
    """Return a line that names the simulated Kubernetes where that of the stack's release is another; else nothing."""
    own, served = stack.settings.version.kubernetes, specs.of(stack).kubernetes
    if served == own:
        return ""
    return f"it serves Kubernetes {KUBERNETES[served]} and its APIs; OpenShift {stack.settings.release} has {own}"


def _made(stack: Stack) -> ClusterSpec | None:
    if not stack.simulated and stack.chosen is None:
        return None
    state = states.load(Layout(stack.home))
    return state.spec if state else None


def _kept(made: ClusterSpec, needed: ClusterSpec) -> ClusterSpec:
    """Return a cluster of today as what it was created as: OpenShift leaves SCCs that are there as they are."""
    old = made.release != "current" and needed.release == "current"
    return needed.model_copy(update={"release": "upgraded"}) if old else needed


def _leads_up(made: ClusterSpec, needed: ClusterSpec) -> bool:
    newer, former = _minor(needed), _minor(made)
    if made.release == "4.4" and needed.release == "current":
        return newer >= former
    kept = _kept(made, needed)
    return (made.release, made.mpi) == (kept.release, kept.mpi) and newer > former


def _minor(spec: ClusterSpec) -> tuple[int, ...]:
    return tuple(map(int, spec.kubernetes.split(".")))


def _same_generation(spec: ClusterSpec, other: ClusterSpec) -> bool:
    return (spec.release, spec.mpi, spec.kubernetes) == (other.release, other.mpi, other.kubernetes)


def _difference(stack: Stack, made: ClusterSpec, needed: ClusterSpec) -> str:
    return (
        f"the simulated cluster {stack.cluster_name} was created with {_of(made)}; stack {stack.name} (release "
        f"{stack.settings.release}) needs {_of(needed)}"
    )


def _of(spec: ClusterSpec) -> str:
    return f"the constraints of release {spec.release}, MPIJob {spec.mpi} and Kubernetes {spec.kubernetes}"
