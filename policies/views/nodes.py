"""What MachineConfigs put on nodes, and which paths there are the operating system's own.

The contents are other people's: decoding is bounded, and nothing here raises.
"""

import base64
import posixpath
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any
from urllib.parse import unquote, unquote_to_bytes

from core.apis.kinds import MACHINE_CONFIG, PERFORMANCE_PROFILE, TUNED
from core.apis.names import MACHINE_CONFIG_ROLE
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.values import Path, Tree, read

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
    if len(parts) == 2 and parts[0] == "dev" and not any(fnmatchcase(spelled, disk) for disk in disks):  # noqa: PLR2004
        return True
    return any(
        all(fnmatchcase(part, fragment) for part, fragment in zip(parts, _parts(pattern), strict=False))
        for pattern in patterns
    )


def _parts(path: str) -> list[str]:
    return [part for part in path.split("/") if part]


KINDS = (MACHINE_CONFIG, PERFORMANCE_PROFILE, TUNED)
"""The kinds that set arguments."""
_LISTS: dict[str, tuple[Path, ...]] = {
    MACHINE_CONFIG.kind: (("spec", "kernelArguments"), ("spec", "config", "kernelArguments", "shouldExist")),
    PERFORMANCE_PROFILE.kind: (("spec", "additionalKernelArgs"),),
}
_LONGEST_LINE = 1 << 14
_LINE = re.compile(r"^[ \t]*cmdline\w*[ \t]*=[ \t]*\+?([^-\n][^\n]*)$", re.MULTILINE)


def arguments(subject: Obj) -> Iterator[tuple[str, Path]]:
    """Yield the arguments that an object adds, and the field of each."""
    for place in _LISTS.get(subject.kind, ()):
        for index, argument in enumerate(subject.entries(*place)):
            for word in argument[:_LONGEST_LINE].split() if isinstance(argument, str) else ():
                yield word.strip("\"'"), (*place, index)
    for profile in profiles(subject):
        for line in _LINE.finditer(profile[0]):
            yield from ((word.strip("\"'"), profile[1]) for word in line[1].split())


def profiles(subject: Obj) -> Iterator[tuple[str, Path]]:
    """Yield the text of each profile of a Tuned, as far as its first 16 KiB go, and its field."""
    for profile in subject.parts("spec", "profile") if subject.kind == TUNED.kind else ():
        yield profile.text("data")[:_LONGEST_LINE], (*profile.path, "data")


_FILES: Path = ("spec", "config", "storage", "files")
_UNITS: Path = ("spec", "config", "systemd", "units")
_LONGEST = 1 << 16


@dataclass(frozen=True)
class Text:
    """A file, a unit or a drop-in of the unit `unit`: its name, its text, and the field that has it.

    `whole` is False where the text is somewhere else, cannot be read, or is longer than what is read of it.
    """

    name: str
    text: str
    place: Path
    unit: str = ""
    whole: bool = True


def texts(machine_config: Obj) -> Iterator[Text]:
    """Yield the files, systemd units and drop-ins of a MachineConfig, each as far as its first 64 KiB go."""
    for index, file in enumerate(machine_config.entries(*_FILES)):
        more = read(file, "append")
        places: list[Path] = [("contents",)]
        places += [("append", number) for number in range(len(more))] if isinstance(more, list) else []
        for place in places:
            contents = read(file, *place)
            source = read(contents, "source")
            if isinstance(source, str):
                text = decode(source, gzipped=read(contents, "compression") == "gzip")
                whole = len(text) < _LONGEST if text else source.startswith("data:") and source.endswith(",")
                yield Text(_text(file, "path"), text, (*_FILES, index, *place, "source"), whole=whole)
    for index, unit in enumerate(machine_config.entries(*_UNITS)):
        name, place = _text(unit, "name"), (*_UNITS, index)
        yield _of_unit(name, _text(unit, "contents"), (*place, "contents"), name)
        dropins = read(unit, "dropins")
        for number, dropin in enumerate(dropins if isinstance(dropins, list) else ()):
            text = _text(dropin, "contents")
            yield _of_unit(_text(dropin, "name"), text, (*place, "dropins", number, "contents"), name)


def _of_unit(name: str, text: str, place: Path, unit: str) -> Text:
    return Text(name, text[:_LONGEST], place, unit, whole=len(text) <= _LONGEST)


def _text(tree: Tree, key: str) -> str:
    value = read(tree, key)
    return value if isinstance(value, str) else ""


def decode(source: str, *, gzipped: bool = False) -> str:
    """Return the text of a data URL, at most 64 KiB of it; empty when it is none or cannot be read."""
    head, comma, body = source[: 4 * _LONGEST].partition(",")
    if not head.startswith("data:") or not comma:
        return ""
    try:
        raw = base64.b64decode(unquote(body)) if head.endswith(";base64") else unquote_to_bytes(body)
        if gzipped:
            raw = zlib.decompressobj(wbits=31).decompress(raw, _LONGEST)
    except (ValueError, zlib.error):  # binascii's error is a ValueError
        return ""
    return raw[:_LONGEST].decode(errors="replace")


MASTERS = "master"
EVERY_WORKER = "worker"
"""The pool whose MachineConfigs every other pool but the masters' takes as well."""

_CONFIG = ("spec", "config")
_UNIT_FILE = re.compile(r"/(?:etc|run)/systemd/system/cri-?o\.service(?:\.d/[^/]+\.conf)?")
_RUNTIME_FILE = re.compile(r"/etc/crio/crio\.conf(?:\.d/[^/]+)?")
_LIMIT = re.compile(r"LimitMEMLOCK\s*=\s*(.*)")
_ULIMIT = re.compile(r"memlock=-1(?::-1)?")


def pools_with_memlock(inventory: Inventory) -> Mapping[str, bool]:
    """Return the pools whose MachineConfigs lift the limit; to be called through `Inventory.once`.

    The value says whether it is sure: False where a MachineConfig of the pool is unknown until the update.
    """
    lifted: dict[str, bool] = {}
    for subject in inventory.of(MACHINE_CONFIG):
        pool = read(subject.tree, "metadata", "labels", MACHINE_CONFIG_ROLE)
        if not isinstance(pool, str):
            continue
        if _raises(subject):
            lifted[pool] = True
        elif any(value.path[: len(_CONFIG)] in (_CONFIG, _CONFIG[:1]) for value in subject.unknown):
            lifted.setdefault(pool, False)
    return lifted


def _raises(subject: Obj) -> bool:
    return any(
        _unit_raises(file.text)
        if file.unit in ("crio.service", "cri-o.service") or _UNIT_FILE.fullmatch(file.name)
        else _RUNTIME_FILE.fullmatch(file.name) is not None and _runtime_raises(file.text)
        for file in texts(subject)
    )


def _unit_raises(text: str) -> bool:
    """Return whether the last LimitMEMLOCK of a unit's section [Service] is infinite for both limits."""
    section, value = "", ""
    for line in text.splitlines():
        stripped = line.strip()
        if stripped.startswith("[") and stripped.endswith("]"):
            section = stripped
        elif section == "[Service]" and (limit := _LIMIT.fullmatch(stripped)):
            value = limit[1].strip()
    return value in ("infinity", "infinity:infinity")


def _runtime_raises(text: str) -> bool:
    # 3 ms to import, at the start of every check and every preview, for one kind of file that few machines have.
    import tomllib  # noqa: PLC0415

    try:
        settings: Any = tomllib.loads(text)
    except (ValueError, RecursionError):
        return False
    ulimits = read(settings, "crio", "runtime", "default_ulimits")
    return isinstance(ulimits, list) and any(
        isinstance(ulimit, str) and _ULIMIT.fullmatch(ulimit) for ulimit in ulimits
    )
