"""ESXi: peer-to-peer traffic between a machine's GPU and its adapter, by address translation services."""

from collections.abc import Iterator

from stacks.site.site import Site
from toolkit.site.groups.esxi import ats, machines, runbook
from toolkit.site.output import File, Group, Open


def _render(site: Site) -> Iterator[File | Open]:
    if site.settings.esxi is None:
        return
    yield ats.FILE
    yield from machines.files(site.settings.esxi)
    yield from runbook.files(site.settings.esxi)


GROUP = Group("esxi", "ATS on ESXi, keys of virtual machines, and the order of restarts", _render)
