"""Stacks of one environment that share a cluster: a platform, and tenants on it."""

from core.wording import some
from stacks.loading import settings as stack_settings
from stacks.loading.settings import SettingsError, tenants_of
from stacks.settings.layers import PlatformLayer, TenantsLayer
from toolkit.cli.shared.backends.backend import Backend
from toolkit.cli.shared.console import print_warning
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.paths import ROOT
from toolkit.cli.shared.stack import Stack

_TENANT = "hpc:tenants:Tenant"
_SHOWN = 4  # tenants that a message names


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
    backend, platform = _backend(stack), settings.platform
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
    if not isinstance(stack.settings, PlatformLayer) or (backend := _backend(stack)) is None:
        return
    resources = backend.resources(stack.name)
    tenants = [resource["urn"].rpartition("::")[2] for resource in resources if resource["type"] == _TENANT]
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
    if not isinstance(stack.settings, PlatformLayer) or (backend := _backend(stack)) is None:
        return
    for tenants in tenants_of(stack.name, ROOT):
        if backend.resources(tenants):
            raise Problem(
                f"stack {stack.name} is the platform of stack {tenants}, which has objects on it",
                f"`./hpc destroy {_named(stack, tenants)}` first; deleted under them, operators could not clean up.",
            )


def _backend(stack: Stack) -> Backend | None:
    """Return where the state of all of them is."""
    return stack.backend


def _named(stack: Stack, other: str) -> str:
    return f"--stack {other}" + (f" --name {stack.chosen}" if stack.chosen else "")
