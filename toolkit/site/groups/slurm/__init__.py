"""Slurm: its configuration, that of Enroot and Pyxis, and the stack's workloads as batch files."""

from collections.abc import Iterator

from stacks.settings.site.scheduler import SlurmSettings
from stacks.site.site import Site
from toolkit.site.groups.slurm import jobs, nodes
from toolkit.site.output import File, Group, Open


def _render(site: Site) -> Iterator[File | Open]:
    scheduler = site.settings.scheduler
    if scheduler is None:
        return
    yield from nodes.files(site, scheduler)
    yield from _containers(scheduler)
    yield from jobs.files(site, scheduler)


def _containers(scheduler: SlurmSettings) -> Iterator[File | Open]:
    """Yield where images are unpacked (Enroot), and the plugin by which srun starts containers (Pyxis)."""
    yield File("slurm/plugstack.conf", "include /etc/slurm/plugstack.conf.d/*\n", sources=("D-5.1", "D-5.5"))
    yield File("slurm/pyxis.conf", f"required {scheduler.pyxis} runtime_path=/run/pyxis\n", sources=("D-5.1", "D-5.5"))
    if scheduler.local_path is None:
        yield Open("folder for unpacked images in slurm/enroot.conf", "name it as `site.scheduler.local_path`")
        return
    # Keys: NVIDIA/enroot doc/configuration.md. Each user has folders of their own: images are unpacked without root.
    own = "$(id -u)"
    lines = (
        f"ENROOT_RUNTIME_PATH /run/enroot/user-{own}",
        f"ENROOT_CACHE_PATH {scheduler.local_path}/enroot-cache/user-{own}",
        f"ENROOT_DATA_PATH {scheduler.local_path}/enroot-data/user-{own}",
    )
    yield File("slurm/enroot.conf", "\n".join(lines) + "\n", sources=("D-5.1", "D-5.4"))


GROUP = Group("slurm", "Slurm, Enroot, Pyxis, and workloads as batch files", _render)
