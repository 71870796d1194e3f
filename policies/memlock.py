"""Which MachineConfigs lift the limit of locked memory for containers, and how their files are read.

Containers inherit the limit from the runtime's unit, or get it from the runtime's own configuration. Nothing here
raises, whatever an object holds. Source: E-19, R-3.4.3-8, platform-facts 1.11.
"""

import base64
import re
import tomllib
import zlib
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import unquote_to_bytes

from apis.kinds import MACHINE_CONFIG
from apis.names import MACHINE_CONFIG_ROLE
from policies.objects import Obj
from policies.values import Path, Tree, Unknown, read
from policies.world import World

EVERY_WORKER = "worker"
"""The pool whose MachineConfigs every other pool but the masters' takes as well."""

_UNITS = ("crio.service", "cri-o.service")
_CONFIG = ("spec", "config")
_UNIT_FILE = re.compile(r"/(?:etc|run)/systemd/system/cri-?o\.service(?:\.d/[^/]+\.conf)?")
_RUNTIME_FILE = re.compile(r"/etc/crio/crio\.conf(?:\.d/[^/]+)?")
_LIMIT = re.compile(r"LimitMEMLOCK\s*=\s*(.*)")
_ULIMIT = re.compile(r"memlock=-1(?::-1)?")
_LARGEST = 1 << 20  # bytes, of one file


def raised(world: World) -> Mapping[str, bool]:
    """Return the pools whose MachineConfigs lift the limit; to be called through `World.once`.

    The value says whether it is sure: False where a MachineConfig of the pool is not known before the update.
    """
    found: dict[str, bool] = {}
    for subject in world.of(MACHINE_CONFIG):
        pool = read(subject.tree, "metadata", "labels", MACHINE_CONFIG_ROLE)
        if not isinstance(pool, str):
            continue
        if _raises(read(subject.tree, *_CONFIG)):
            found[pool] = True
        elif any(value.path[: len(_CONFIG)] in (_CONFIG, _CONFIG[:1]) for value in subject.unknown):
            found.setdefault(pool, False)
    return found


def files(subject: Obj) -> Iterator[tuple[Path, str]]:
    """Yield the files that a MachineConfig writes: where their path stands in the object, and the path."""
    for index, entry in enumerate(_list(read(subject.tree, *_CONFIG, "storage", "files"))):
        path = read(entry, "path")
        if isinstance(path, str):
            yield (*_CONFIG, "storage", "files", index, "path"), path


def _raises(config: Tree) -> bool:
    if any(_unit_raises(text) for text in _units(config)):
        return True
    for entry in _list(read(config, "storage", "files")):
        path = read(entry, "path")
        if not isinstance(path, str):
            continue
        if _UNIT_FILE.fullmatch(path) and _unit_raises(content(entry)):
            return True
        if _RUNTIME_FILE.fullmatch(path) and _runtime_raises(content(entry)):
            return True
    return False


def _units(config: Tree) -> Iterator[str]:
    """Yield the texts of the runtime's units and of their drop-ins; Ignition 2 and 3 have them in the same place."""
    for unit in _list(read(config, "systemd", "units")):
        if read(unit, "name") in _UNITS:
            texts = (read(part, "contents") for part in (unit, *_list(read(unit, "dropins"))))
            yield from (text for text in texts if isinstance(text, str))


def _unit_raises(text: str) -> bool:
    """Say whether the last LimitMEMLOCK of a unit's section [Service] is infinite for both limits."""
    section, value = "", ""
    for line in text[:_LARGEST].splitlines():
        stripped = line.strip()
        if stripped.startswith("[") and stripped.endswith("]"):
            section = stripped
        elif section == "[Service]" and (found := _LIMIT.fullmatch(stripped)):
            value = found[1].strip()
    return value in ("infinity", "infinity:infinity")


def _runtime_raises(text: str) -> bool:
    try:
        settings: Any = tomllib.loads(text)
    except (ValueError, RecursionError):
        return False
    ulimits = _list(read(settings, "crio", "runtime", "default_ulimits"))
    return any(isinstance(each, str) and _ULIMIT.fullmatch(each) for each in ulimits)


def content(entry: Tree) -> str:
    """Return the text of one file of Ignition, whose content is a data URL; empty when it is none or unreadable."""
    contents = read(entry, "contents")
    source = read(contents, "source")
    if not isinstance(source, str) or not source.startswith("data:") or len(source) > 4 * _LARGEST:
        return ""
    head, comma, data = source.partition(",")
    if not comma:
        return ""
    try:
        raw = unquote_to_bytes(data)
        raw = base64.b64decode(raw) if head.endswith(";base64") else raw
        if read(contents, "compression") == "gzip":
            raw = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16).decompress(raw, _LARGEST)
    except (ValueError, zlib.error):  # binascii's error is a ValueError
        return ""
    return raw[:_LARGEST].decode(errors="replace")


def _list(value: Tree) -> list[Any]:
    return value if isinstance(value, list) and not isinstance(value, Unknown) else []
