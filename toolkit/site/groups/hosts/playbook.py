"""Ansible's playbooks for GPU hosts with RHEL, their inventory and roles: modules of ansible-core alone, 2.14 on."""

from collections.abc import Iterator
from typing import Any

import yaml

from stacks.settings.site.hosts import RedHatHosts
from stacks.site.hosts import daemon_addresses
from stacks.site.site import Site
from toolkit.site.groups.hosts import roles
from toolkit.site.groups.hosts.roles import Role
from toolkit.site.output import File, Open

INVENTORY, BEFORE, AFTER = "hosts/inventory.yml", "hosts/playbook.yml", "hosts/after-driver.yml"
GROUP = "gpu_hosts"


def files(site: Site, settings: RedHatHosts) -> Iterator[File | Open]:
    """Yield the inventory, a playbook for before and one for after the driver's container, and their roles."""
    variables = roles.variables_by_role(site, settings)
    sources = tuple(dict.fromkeys(source for role in variables for source in role.sources))
    yield File(INVENTORY, _yaml(_inventory(site, settings, variables)), sources)
    before = [role for role in variables if not role.after_driver]
    yield File(BEFORE, _yaml(_play("Prepare the GPU hosts", before)), sources)
    if after := [role for role in variables if role.after_driver]:
        sources = tuple(source for role in after for source in role.sources)
        yield File(AFTER, _yaml(_play("Finish the GPU hosts, when the operator's driver runs there", after)), sources)
    for role in variables:
        yield from roles.files(role)
    yield from _open(site, settings)


def _inventory(site: Site, settings: RedHatHosts, variables_by_role: dict[Role, dict[str, Any]]) -> dict[str, Any]:
    addresses = {address.host.name: address for address in daemon_addresses(site)}
    hosts = {}
    for host in site.gpu_hosts:
        admin, daemon = site.admin_address(host), addresses.get(host.name)
        hosts[host.name] = {
            **({"ansible_host": str(admin)} if admin else {}),
            **({"ipoib_interface": daemon.interface} if daemon and daemon.interface else {}),
            **({"ipoib_address": str(daemon.address)} if daemon and daemon.address else {}),
        }
    login = {"ansible_user": settings.user} if settings.user else {}
    variables = {name: value for of_role in variables_by_role.values() for name, value in of_role.items()}
    group = {
        # Where files are written: a folder other than the root shows what they would be.
        "vars": {"host_root": "", "ansible_become": True, **login, **variables},
        "hosts": hosts,
    }
    return {"all": {"children": {GROUP: group}}}


def _play(name: str, play_roles: list[Role]) -> list[dict[str, Any]]:
    return [{"name": name, "hosts": GROUP, "roles": [role.name for role in play_roles]}]


def _open(site: Site, settings: RedHatHosts) -> Iterator[Open]:
    if settings.release is None and settings.subscriptions:
        yield Open("minor release of RHEL that hosts are held at", "set site.hosts.release")
    if site.on_hosts.driver == "host" and settings.host_driver is None:
        yield Open("packages of the GPU driver, which the hosts have by themselves", "set site.hosts.host_driver")
    if site.on_hosts.memlock_by_host and settings.container_runtime is None:
        yield Open("unit of the container runtime, for memlock", "set site.hosts.container_runtime")
    if site.traffic_class is not None and settings.ofed is None:
        yield Open("version of MLNX_OFED, whose programs set the ports' class", "set site.hosts.ofed")
    if settings.ofed is not None and settings.ofed.sha256 is None:
        yield Open(
            f"checksum of {settings.ofed.name}.tgz, without which Ansible refuses to install it",
            "set site.hosts.ofed.sha256 to what `sha256sum` prints of a copy that you trust",
        )
    for module in settings.selinux_modules:
        yield Open(f"SELinux module {module}", f"put the file into hosts/roles/selinux/files/{module}")


def _yaml(content: Any) -> str:
    return "---\n" + yaml.dump(content, Dumper=_Dumper, sort_keys=False, width=120)


class _Dumper(yaml.SafeDumper):
    """Indents lists, as Ansible's own files do."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:  # noqa: ARG002
        """Indent a list below its key."""
        super().increase_indent(flow, indentless=False)
