"""Which MachineConfigs lift the limit of locked memory for containers.

Containers inherit the limit from the runtime's unit, or get it from the runtime's own configuration. Nothing here
raises, whatever an object holds.
"""

import re
from collections.abc import Mapping
from typing import Any

from core.apis.kinds import MACHINE_CONFIG
from core.apis.names import MACHINE_CONFIG_ROLE
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.values import read
from policies.views.ignition import texts

MASTERS = "master"
EVERY_WORKER = "worker"
"""The pool whose MachineConfigs every other pool but the masters' takes as well."""

_UNITS = ("crio.service", "cri-o.service")
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
        if file.unit in _UNITS or _UNIT_FILE.fullmatch(file.name)
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
