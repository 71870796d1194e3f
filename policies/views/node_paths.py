"""Folders and devices of a node that are the operating system's own, whatever the spelling of a path."""

import posixpath
from collections.abc import Iterable
from fnmatch import fnmatchcase

OWN = (
    *("/etc", "/root", "/home/core", "/boot", "/efi", "/usr", "/bin", "/sbin", "/lib", "/lib64", "/proc", "/sys"),
    *("/run", "/ostree", "/sysroot", "/var/log", "/var/spool", "/opt/cni"),
    *("/var/lib/kubelet", "/var/lib/containers", "/var/lib/containerd", "/var/lib/docker", "/var/lib/etcd"),
    *("/var/lib/crio", "/var/lib/cni", "/var/lib/ovn*", "/var/lib/openvswitch", "/var/lib/NetworkManager"),
    *("/var/lib/machine-config-daemon", "/var/lib/selinux", "/var/lib/systemd", "/var/lib/rpm*"),
    *("/dev/nvidia*", "/dev/infiniband", "/dev/vfio", "/dev/dri", "/dev/char", "/dev/net", "/dev/cpu", "/dev/bus"),
    *("/dev/mqueue", "/dev/hugepages", "/dev/input", "/dev/snd", "/dev/usb", "/dev/pts", "/dev/fd"),
    *("/dev/disk/by-*label/root", "/dev/disk/by-*label/boot", "/dev/disk/by-*label/EFI-SYSTEM"),
)
"""Patterns of the operating system's folders and devices, with what is below and above them."""
DISKS = (
    *("/dev/sd*", "/dev/hd*", "/dev/vd*", "/dev/xvd*", "/dev/nvme*n*", "/dev/dm-*", "/dev/md*", "/dev/loop[0-9]*"),
    *("/dev/rbd*", "/dev/nbd*", "/dev/pmem*", "/dev/drbd*", "/dev/mmcblk*"),
)
"""Patterns of what is a disk directly below /dev; any folder there that is none of `OWN` has disks, too."""
_DEVICES = "dev"
# Where RHCOS keeps what is linked elsewhere.
_LINKED = (
    *(("/var/run", "/run"), ("/var/roothome", "/root"), ("/var/home", "/home"), ("/var/opt", "/opt")),
    ("/var/usrlocal", "/usr/local"),
)


def canonical(path: str) -> str:
    """Return a path in one spelling: one slash at a time, and the links of RHCOS followed."""
    normalized = "/" + posixpath.normpath(path).lstrip("/")
    for link, target in _LINKED:
        if normalized == link or normalized.startswith(f"{link}/"):
            return target + normalized.removeprefix(link)
    return normalized


def is_system_path(path: str, patterns: Iterable[str], disks: Iterable[str]) -> bool:
    """Return whether a path is the operating system's: one of `patterns`, below or above one, or no disk of /dev."""
    spelled = canonical(path)
    parts = _parts(spelled)
    if len(parts) == 2 and parts[0] == _DEVICES and not any(fnmatchcase(spelled, disk) for disk in disks):  # noqa: PLR2004
        return True
    return any(_overlap(parts, _parts(pattern)) for pattern in patterns)


def _parts(path: str) -> list[str]:
    return [part for part in path.split("/") if part]


def _overlap(parts: list[str], pattern: list[str]) -> bool:
    return all(fnmatchcase(part, fragment) for part, fragment in zip(parts, pattern, strict=False))
