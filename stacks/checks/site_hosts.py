"""What is wrong between the hosts' settings below `site` and the stack."""

import re
from collections.abc import Iterable, Iterator

from core.apis import rhel
from stacks.settings.fabric import InfiniBand
from stacks.settings.platform import Settings
from stacks.settings.site.hosts import RedHatHosts
from stacks.site import assembly as site
from stacks.site import hosts
from stacks.site.hosts import refusal
from stacks.site.site import Site

ALL_WITHOUT_MACHINE_CONFIGS = "3.11"
_PLATFORM = re.compile(r"rhel(\d+\.\d+)-")


def problems(settings: Settings) -> Iterator[str]:
    """Yield hosts that do not exist, and settings that the release, the driver or the fabric does not take."""
    if settings.site is None:
        return
    facts = site.of(settings, stack="")
    unknown = [*_unknown(facts)]
    yield from unknown
    if reason := refusal(facts):
        yield f"site.hosts.dialect: {facts.settings.hosts and facts.settings.hosts.dialect}: {reason}"
    if isinstance(facts.settings.hosts, RedHatHosts):
        yield from _of_red_hat(facts, facts.settings.hosts)
        yield from _versions(facts.settings.hosts)
        yield from _driver_of_plugin(settings, facts.settings.hosts)
    if facts.settings.networks.daemon:
        yield from _ports(settings, facts, facts.settings.networks.daemon.port)
        # An address of a host that does not exist is named above.
        yield from (() if unknown else (f"site.networks.daemon.{problem}" for problem in hosts.daemon_problems(facts)))


def _unknown(facts: Site) -> Iterator[str]:
    declared = facts.settings
    everyone = [host.name for host in facts.hosts]
    gpus = [host.name for host in facts.gpu_hosts]
    if declared.networks.admin:
        yield from _unknown_nodes("site.networks.admin.addresses", declared.networks.admin.addresses, everyone)
    if declared.networks.daemon:
        yield from _unknown_nodes("site.networks.daemon.addresses", declared.networks.daemon.addresses, gpus)
    if declared.haproxy:
        workers = [host.name for host in facts.hosts if "worker" in host.roles]
        yield from _unknown_nodes("site.haproxy", declared.haproxy, workers)
    if isinstance(declared.hosts, RedHatHosts):
        yield from _unknown_nodes("site.hosts.joined", declared.hosts.joined, gpus)
        yield from _unknown_nodes("site.hosts.node_groups", declared.hosts.node_groups, everyone)


def _unknown_nodes(path: str, names: Iterable[str], nodes: list[str]) -> Iterator[str]:
    for name in names:
        if name not in nodes:
            yield f"{path}: {name} is not one of the nodes {', '.join(nodes)}; name one of them"


def _of_red_hat(facts: Site, hosts: RedHatHosts) -> Iterator[str]:
    driver = facts.on_hosts.driver
    if hosts.host_driver and driver != "host":
        yield (
            f"site.hosts.host_driver: gpu.enablement {driver} brings the driver, and a host has none of its own then; "
            "leave it out"
        )
    if hosts.peer_memory and driver != "special-resource-operator":
        yield (
            "site.hosts.peer_memory: it is built against the driver of special-resource-operator; leave it out, for "
            "drivers since R470 bring a module of their own"
        )
    for name in ("container_runtime", "node_groups", "image_tag"):
        if facts.release != ALL_WITHOUT_MACHINE_CONFIGS and getattr(hosts, name):
            value = getattr(hosts, name)
            yield f"site.hosts.{name}: {value!r} is for OpenShift 3.11, not {facts.release}; leave it out"


def _driver_of_plugin(settings: Settings, hosts: RedHatHosts) -> Iterator[str]:
    """Yield a network driver that the hosts get in another version than their pods are built for."""
    named = getattr(getattr(settings.fabric, "plugin", None), "host_ofed_version", None)
    if hosts.ofed and named and hosts.ofed.version != named:
        yield (
            f"site.hosts.ofed.version: {hosts.ofed.version}, and fabric.plugin.host_ofed_version is {named}; give "
            "both one version"
        )


def _versions(hosts: RedHatHosts) -> Iterator[str]:
    """Yield kernel and driver that are of another minor release than the one that is held."""
    if hosts.release is None:
        return
    build = rhel.KERNELS.get(hosts.release)
    of_kernel = rhel.minor(hosts.kernel) if hosts.kernel else hosts.release
    if hosts.kernel and build and of_kernel != hosts.release:
        whose = f"one of RHEL {of_kernel}" if of_kernel else "no kernel of it"
        yield f"site.hosts.kernel: {hosts.kernel} is {whose}, and release is {hosts.release}; use one of {build}"
    platform = _PLATFORM.match(hosts.ofed.platform) if hosts.ofed else None
    if hosts.ofed and platform and platform[1] != hosts.release:
        yield (
            f"site.hosts.ofed.platform: {hosts.ofed.platform} is for RHEL {platform[1]}, and release is "
            f"{hosts.release}; use the archive for rhel{hosts.release}"
        )


def _ports(settings: Settings, facts: Site, port: str) -> Iterator[str]:
    names = [port.name for port in facts.gpu_hosts[0].ports]
    if not isinstance(settings.fabric, InfiniBand):
        yield f"site.networks.daemon: IP over InfiniBand, and fabric.kind is {settings.fabric.kind}; leave it out"
    elif port not in names:
        options = ", ".join(names)
        machines = " or ".join(pool.machine.name for pool in settings.gpu_pools)
        yield f"site.networks.daemon.port: {port} is not a port of {machines}; use one of {options}"
