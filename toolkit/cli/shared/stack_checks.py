"""Whether a stack may be updated or deleted: by its simulated cluster, its platform, and the tenants on it."""

from typing import Any

from core.wording import some
from stacks.loading import settings as stack_settings
from stacks.loading.settings import SettingsError, tenants_of
from stacks.settings.layers import PlatformLayer, TenantsLayer
from toolkit.cli.shared.console import print_warning
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.paths import ROOT
from toolkit.cli.shared.stack import Stack
from toolkit.review.sentences import short_title

_TENANT = "hpc:tenants:Tenant"
_SHOWN = 3  # objects and tenants that a message names


def require_cluster_of_state(stack: Stack) -> None:
    """Raise Problem when the state has objects and the data of the cluster that had them is gone."""
    if not stack.simulated:
        return
    from toolkit.cli.shared.simulated import backend, cluster  # noqa: PLC0415 - for simulated clusters alone

    data = cluster.data(stack.home)
    if data.is_dir() or not _resources(stack):
        return
    raise Problem(
        f"the state of stack {stack.name} has objects of a cluster whose data is gone ({data})",
        f"`./hpc sim clean --name {stack.cluster_name}` removes both, and the next "
        f"`./hpc up {stack.options}` starts again."
        if backend.within(stack.home)
        else f"It is in {backend.recorded(stack.home)}: `./hpc pulumi {stack.options} stack rm {stack.name} --force` "
        f"removes it, and the next `./hpc up {stack.options}` starts again.",
    )


def require_own_cluster(stack: Stack) -> None:
    """Raise Problem when another stack has objects on the stack's simulated cluster; layers of one environment may.

    The nodes would become those of this stack, under what the other has there, and what both declare has two owners.
    """
    if not stack.simulated and stack.chosen is None:
        return
    from toolkit.cli.shared.simulated import cluster  # noqa: PLC0415 - for simulated clusters alone

    for other in cluster.stacks(stack.home):
        if other in sharing_cluster(stack):
            continue
        name = stack.cluster_name
        raise Problem(
            f"the simulated cluster {name} has stack {other} on it, and takes one stack at a time",
            f"Give stack {stack.name} a cluster of its own (`--name` and another name), or take {other} off this one: "
            f"`./hpc destroy --stack {other} --name {name}`, or `./hpc sim clean --name {name}` with the cluster. "
            f"If you mean {other}, pass `--stack {other}`.",
        )


def require_fitting(stack: Stack) -> None:
    """Raise Problem when the stack's simulated cluster is there and was created for another release."""
    if stack.simulated:
        from toolkit.cli.shared.simulated import spec  # noqa: PLC0415 - for simulated clusters alone

        spec.fitting(stack)


def require_unprotected(stack: Stack) -> None:
    """Raise Problem when the state has protected objects: the engine would list each, and delete none at all."""
    kept = [short_title(resource["urn"]) for resource in _resources(stack) if resource.get("protect")]
    if kept:
        raise Problem(
            f"stack {stack.name} protects {some(kept, _SHOWN)}",
            f"`./hpc sim clean --name {stack.cluster_name}` removes the cluster with all of it; to take only the stack "
            f"off it, set `protect: false` in {stack.platform_file.name}, run `./hpc up {stack.options}`, then this.",
        )


def sharing_cluster(stack: Stack) -> frozenset[str]:
    """Return the stacks that may be on the cluster of `stack` beside it, and itself."""
    settings = stack.settings
    if isinstance(settings, TenantsLayer):
        return frozenset({settings.platform, *tenants_of(settings.platform, ROOT)})
    return frozenset({stack.name, *(tenants_of(stack.name, ROOT) if isinstance(settings, PlatformLayer) else ())})


def require_platform(stack: Stack) -> None:
    """Raise Problem when the platform that tenants rest on was never brought up.

    Where the state cannot be read here, and when the platform differs from its file, the program reports it.
    """
    settings = stack.settings
    if not isinstance(settings, TenantsLayer):
        return
    backend, platform = stack.backend, settings.platform
    if backend is None or backend.resources(platform):
        return
    where = f"cluster {stack.cluster_name}" if stack.simulated else f"backend {backend.url}"
    raise Problem(
        f"stack {platform}, the platform of stack {stack.name}, is not up on {where}",
        f"`./hpc up {_named(stack, platform)}` first; after that, tenants come and go without it.",
    )


def warn_of_refused(stack: Stack) -> None:
    """Warn of tenants that do not go with the file of their platform any more: it is updated without asking them."""
    if not isinstance(stack.settings, PlatformLayer):
        return
    for tenants in tenants_of(stack.name, ROOT):
        try:
            stack_settings.load(tenants, ROOT)
        except SettingsError as error:
            print_warning(f"stack {tenants} is refused with this file, until one of them is changed:\n{error}")


def require_split(stack: Stack) -> None:
    """Raise Problem when the state of a platform still has tenants: an update would delete them with what they have."""
    if not isinstance(stack.settings, PlatformLayer):
        return
    tenants = [resource["urn"].rpartition("::")[2] for resource in _resources(stack) if resource["type"] == _TENANT]
    if tenants:
        to = next(iter(tenants_of(stack.name, ROOT)), f"{stack.name}-tenants")
        raise Problem(
            f"the state of stack {stack.name} has tenants ({some(tenants, _SHOWN)}); its file has none, "
            "and an update would delete them",
            f"`./hpc state split {_named(stack, to)}` moves them into the state of a stack of their own: "
            "docs/guide/several-stacks.md.",
        )


def require_no_tenants(stack: Stack) -> None:
    """Raise Problem when tenants have objects on the platform that is to be deleted under them."""
    if not isinstance(stack.settings, PlatformLayer) or (backend := stack.backend) is None:
        return
    for tenants in tenants_of(stack.name, ROOT):
        if backend.resources(tenants):
            raise Problem(
                f"stack {stack.name} is the platform of stack {tenants}, which has objects on it",
                f"`./hpc destroy {_named(stack, tenants)}` first; deleted under them, operators could not clean up.",
            )


def _named(stack: Stack, other: str) -> str:
    return f"--stack {other}" + (f" --name {stack.chosen}" if stack.chosen else "")


def _resources(stack: Stack) -> list[dict[str, Any]]:
    backend = stack.backend
    return backend.resources(stack.name) if backend else []
