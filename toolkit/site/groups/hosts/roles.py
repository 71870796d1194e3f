"""The roles of the playbooks: which ones the settings call for, and their variables.

What a role does is in its folder below `roles/`, which is written as it is. A role's variables begin with its name, and
its `meta/argument_specs.yml` has their types: Ansible refuses others before it changes anything.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stacks.settings.site.hosts import RedHatHosts
from stacks.site.site import Site
from toolkit.site.groups.hosts import roce
from toolkit.site.output import File

FOLDER = Path(__file__).with_name("roles")
Variables = Mapping[str, Any]


@dataclass(frozen=True)
class Role:
    """One role; its variables are without its name before them."""

    name: str
    sources: tuple[str, ...]
    variables: Callable[[Site, RedHatHosts], Variables | None]
    """None: the settings do not call for it."""
    after_driver: bool = False
    """It needs the driver of an operator's container, so it runs when the host is part of the cluster."""


def variables_by_role(site: Site, settings: RedHatHosts) -> dict[Role, dict[str, Any]]:
    """Return the roles in their order, each with its variables by full name."""
    by_role = {role: role.variables(site, settings) for role in ROLES}
    return {
        role: {f"{role.name}_{key}": value for key, value in variables.items()}
        for role, variables in by_role.items()
        if variables is not None
    }


def files(role: Role) -> tuple[File, ...]:
    """Return the files of a role."""
    root = FOLDER / role.name
    return tuple(
        File(f"hosts/roles/{role.name}/{path.relative_to(root).as_posix()}", path.read_text(), role.sources)
        for path in sorted(root.rglob("*"))
        if path.is_file()
    )


def _repositories(_: Site, settings: RedHatHosts) -> Variables | None:
    variables = {
        "setup_packages": list(settings.setup_packages),
        "files": [{"name": name, **repository.model_dump()} for name, repository in settings.repositories.items()],
        "urls": list(settings.repository_files),
        "pool": settings.subscription_pool,
        "subscriptions": list(settings.subscriptions),
        "release": settings.release,
    }
    return {key: value for key, value in variables.items() if value} or None


def _updates(_: Site, settings: RedHatHosts) -> Variables:
    variables = {"groups": list(settings.package_groups), "kernel": settings.kernel}
    return {key: value for key, value in variables.items() if value}


def _ofed(_: Site, settings: RedHatHosts) -> Variables | None:
    ofed = settings.ofed
    if ofed is None:
        return None
    verified = {"sha256": ofed.sha256} if ofed.sha256 else {}
    return {"version": ofed.version, "name": ofed.name, "folder": ofed.folder, **verified}


def _memlock(site: Site, settings: RedHatHosts) -> Variables | None:
    return (
        {"unit": settings.container_runtime} if site.on_hosts.memlock_by_host and settings.container_runtime else None
    )


def _ipoib(site: Site, _: RedHatHosts) -> Variables | None:
    network = site.settings.networks.daemon
    return {"prefix": network.network.prefixlen} if network else None


def _host_driver(_: Site, settings: RedHatHosts) -> Variables | None:
    driver = settings.host_driver
    if driver is None:
        return None
    of_hook = {"hook_package": driver.hook, "hook_file": driver.hook_file} if driver.hook else {}
    return {"packages": list(driver.packages), **of_hook}


ROLES = (
    Role(
        "no_host_driver",
        sources=("R-3.2.1-1", "E-43"),
        variables=lambda site, _: None if site.on_hosts.driver == "host" else {},
    ),
    Role(
        "repositories",
        sources=("R-3.2.1-2", "R-3.2.1-3", "R-3.2.1-5", "R-3.2.5-1", "S-6.1", "B-2.4"),
        variables=_repositories,
    ),
    Role("updates", sources=("R-3.2.1-4", "R-3.2.1-6", "B-2.4"), variables=_updates),
    Role("nouveau", sources=("R-3.4.1-7", "S-6.1"), variables=lambda _, __: {}),
    Role(
        "selinux",
        sources=("R-3.2.4-1", "R-3.4.1-8", "S-6.3", "E-10"),
        variables=lambda _, settings: {"mode": settings.selinux, "modules": [*settings.selinux_modules]},
    ),
    Role("ofed", sources=("R-3.2.2-1", "N-3.2", "N-3.3"), variables=_ofed),
    Role("roce_qos", sources=("N-1.1",), variables=roce.variables),
    Role("ipoib", sources=("R-3.3-6",), variables=_ipoib),
    Role("memlock", sources=("R-3.4.3-8",), variables=_memlock),
    Role("host_driver", sources=("S-6.1", "S-6.2", "S-6.4"), variables=_host_driver),
    Role(
        "peer_memory",
        sources=("R-3.2.3-1", "R-3.2.3-2", "R-3.2.3-4", "E-05", "E-06"),
        variables=lambda _, settings: settings.peer_memory.model_dump() if settings.peer_memory else None,
        after_driver=True,
    ),
)
