"""Slurm: its configuration, that of Enroot and Pyxis, and the stack's workloads as batch files."""

from collections.abc import Iterator

from stacks.site.site import Site
from toolkit.site.groups.slurm import containers, jobs, nodes
from toolkit.site.output import File, Group, Open


def _render(site: Site) -> Iterator[File | Open]:
    wanted = site.given.scheduler
    if wanted is None:
        return
    yield from nodes.files(site, wanted)
    yield from containers.files(wanted)
    yield from jobs.files(site, wanted)


GROUP = Group("slurm", "Slurm, Enroot, Pyxis, and workloads as batch files", _render)
