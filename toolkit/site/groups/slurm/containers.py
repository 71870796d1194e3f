"""Enroot and Pyxis: where images are unpacked, and the plugin by which srun starts containers."""

from collections.abc import Iterator

from stacks.settings.site.scheduler import SlurmSettings
from toolkit.site.output import File, Open


def files(wanted: SlurmSettings) -> Iterator[File | Open]:
    """Yield the files of Enroot, Pyxis and Slurm's plugins."""
    yield File("slurm/plugstack.conf", "include /etc/slurm/plugstack.conf.d/*\n", sources=("D-5.1", "D-5.5"))
    yield File("slurm/pyxis.conf", f"required {wanted.pyxis} runtime_path=/run/pyxis\n", sources=("D-5.1", "D-5.5"))
    if wanted.local_path is None:
        yield Open("folder for unpacked images in slurm/enroot.conf", "name it as `site.scheduler.local_path`")
        return
    # Keys: NVIDIA/enroot doc/configuration.md. Each user has folders of their own: images are unpacked without root.
    own = "$(id -u)"
    lines = (
        f"ENROOT_RUNTIME_PATH /run/enroot/user-{own}",
        f"ENROOT_CACHE_PATH {wanted.local_path}/enroot-cache/user-{own}",
        f"ENROOT_DATA_PATH {wanted.local_path}/enroot-data/user-{own}",
    )
    yield File("slurm/enroot.conf", "\n".join(lines) + "\n", sources=("D-5.1", "D-5.4"))
