"""Attributes of mmchconfig: what all clients have, and what the GPU hosts have beside it."""

from collections.abc import Mapping
from dataclasses import dataclass

from core.hardware.profiles import Hca, Profile
from core.hardware.topology import pagepool_gib
from stacks.settings.site.scale import CHOSEN, ScaleSettings
from stacks.site.site import ScaleFacts, Site
from toolkit.site.output import Open

_COMMON = {
    # Both for the driver of OpenShift: quotas of volumes hold for root, and SELinux labels on immutable files.
    "enforceFilesetQuotaOnRoot": "yes",
    "controlSetxattrImmutableSELinux": "yes",
}


@dataclass(frozen=True)
class Attributes:
    """Values by attribute, as mmchconfig takes them and mmlsconfig prints them."""

    common: Mapping[str, str]
    of_class: Mapping[str, str]
    """Of the class of the GPU hosts; empty where none is a client."""


def attributes(site: Site, facts: ScaleFacts, settings: ScaleSettings) -> tuple[Attributes, tuple[Open, ...]]:
    """Return the attributes that a site's settings mean, and what they leave open."""
    chosen = {**CHOSEN, **settings.attributes}
    common = {"maxMBpS": chosen.pop("maxMBpS"), **_COMMON}
    machines = [host.machine for host in site.scale_clients if host.machine]
    if not machines:
        return Attributes(common, {}), ()
    machine = machines[0]
    pool, no_pool = _pagepool(machine, facts, settings)
    verbs, no_verbs = _verbs(site, machine)
    daemon = site.settings.networks.daemon
    # Both clusters: then their nodes talk to each other there, too.
    subnets = {"subnets": f"{daemon.network.network_address}/{settings.owner};{settings.cluster}"} if daemon else {}
    own = {
        **pool,
        "workerThreads": chosen.pop("workerThreads"),
        "ignorePrefetchLUNCount": "yes",
        "maxFilesToCache": chosen.pop("maxFilesToCache"),
        "maxStatCache": chosen.pop("maxStatCache"),
        **subnets,
        **verbs,
        **chosen,
    }
    return Attributes(common, own), (*no_pool, *no_verbs)


def _pagepool(machine: Profile, facts: ScaleFacts, settings: ScaleSettings) -> tuple[dict[str, str], tuple[Open, ...]]:
    size = settings.pagepool_gib or pagepool_gib(machine)
    if settings.pagepool_gib is None and size > facts.reserved_gib:
        what = f"the pagepool: a quarter of the memory is {size} GiB, and GPU nodes reserve {facts.reserved_gib} GiB"
        return {}, (Open(what, "set site.scale.pagepool_gib, or reserve more"),)
    return {"pagepool": f"{size}G"}, ()


def _verbs(site: Site, machine: Profile) -> tuple[dict[str, str], tuple[Open, ...]]:
    """Return what makes clients use RDMA, over the ports for storage or, without such, over all."""
    if site.fabric in ("ethernet", "none"):
        return {}, ()
    ports: tuple[Hca, ...] = machine.storage_hcas or machine.hcas
    if not ports:
        what = f"verbsPorts: no source names the ports of {machine.name}"
        return {}, (Open(what, "name them under `ports` of the stack"),)
    # Over Ethernet connections are made by the RDMA connection manager alone (mmchconfig, verbsRdmaCm).
    manager = {"verbsRdmaCm": "enable"} if site.fabric == "roce" else {}
    names = " ".join(f"{port.name}/1" for port in ports)
    return {"verbsRdma": "enable", **manager, "verbsRdmaSend": "yes", "verbsPorts": names}, ()
