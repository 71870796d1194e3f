"""Configurations of the shared RDMA device plugin, in a ConfigMap or in a policy of the network operator.

Nothing here raises, whatever an object holds.
Source: Mellanox/k8s-rdma-shared-dev-plugin, pkg/types and pkg/resources.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeGuard

from core.apis.kinds import CONFIG_MAP, NIC_CLUSTER_POLICY, NIC_NODE_POLICY
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.values import Path, Tree, Unknown, brief, read

KINDS = (CONFIG_MAP, NIC_CLUSTER_POLICY, NIC_NODE_POLICY)
DEFAULT_PREFIX = "rdma"
SELECTORS = ("vendors", "deviceIDs", "drivers", "ifNames", "linkTypes")

_CONFIG_MAP_KEY = "config.json"
_LIST = "configList"
_POLICY_PATH = ("spec", "rdmaSharedDevicePlugin", "config")
_INTERVAL = "periodicUpdateInterval"
_TOP = (_LIST, _INTERVAL)
_KEYS = ("resourceName", "resourcePrefix", "rdmaHcaMax", "devices", "selectors")
_NO_PCI_DRIVERS = frozenset(
    {"irdma", "mlx5_ib", "mlx4_ib", "bnxt_re", "qedr", "iw_cxgb4", "i40iw", "mana_ib", "ib_core", "ib_uverbs"}
    | {"ib_ipoib", "rdma_cm", "rdma_ucm", "rdma_rxe", "siw"}
)
"""RDMA drivers and modules above the one that a PCI device is bound to, which the plugin compares."""
_PCI_DRIVERS = {"irdma": "ice or i40e", "mlx5_ib": "mlx5_core", "mlx4_ib": "mlx4_core", "bnxt_re": "bnxt_en"}
_LINK_TYPES = ("ether", "infiniband")
"""The kernel's names of the encapsulations of interfaces with RDMA."""
_ID = re.compile(r"[0-9a-f]{4}")
_NAME = re.compile(r"[a-zA-Z0-9_]+")
_MOST_FAULTS = 50
_LARGEST = 1 << 20  # bytes; a ConfigMap holds no more


@dataclass(frozen=True)
class Entry:
    """One resource that the plugin offers: `resource` in full, e.g. rdma/shared_ib0; `hca_max` None when unreadable."""

    resource: str
    hca_max: int | None
    devices: bool


@dataclass(frozen=True)
class Configuration:
    """One configuration: where its JSON is, what it offers, and what is wrong with it."""

    path: Path
    entries: tuple[Entry, ...] = ()
    faults: tuple[str, ...] = ()
    unknown: Unknown | None = None


def configuration(subject: Obj) -> Configuration | None:
    """Return the plugin's configuration that an object holds; None when it holds none."""
    if subject.kind != CONFIG_MAP.kind:
        return _parse(_POLICY_PATH, read(subject.tree, *_POLICY_PATH))
    data = read(subject.tree, "data")
    has_default_name = subject.name == "rdma-devices"
    text = data if isinstance(data, Unknown) else read(data, _CONFIG_MAP_KEY)
    if not has_default_name and not (isinstance(text, str) and _LIST in text):
        return None
    return _parse(("data", _CONFIG_MAP_KEY), text)


@dataclass(frozen=True)
class Offers:
    """What the plugin offers: the largest rdmaHcaMax of each resource.

    `configured` is whether there is a configuration at all, `complete` whether none is unknown until the update.
    """

    resources: Mapping[str, int]
    configured: bool
    complete: bool


def offers(inventory: Inventory) -> Offers:
    """Return what all configurations among the objects offer; to be called through `Inventory.once`."""
    configurations = [
        plugin for kind in KINDS for subject in inventory.of(kind) if (plugin := configuration(subject)) is not None
    ]
    resources: dict[str, int] = {}
    for entry in (entry for plugin in configurations for entry in plugin.entries):
        resources[entry.resource] = max(entry.hca_max or 0, resources.get(entry.resource, 0))
    return Offers(resources, bool(configurations), all(plugin.unknown is None for plugin in configurations))


def _parse(path: Path, text: Tree) -> Configuration | None:
    if text is None:
        return None
    if isinstance(text, Unknown):
        return Configuration(path, unknown=text)
    if not isinstance(text, str):
        return Configuration(path, faults=(f"is {brief(text)} and not a text with JSON in it",))
    if len(text) > _LARGEST:
        return Configuration(path, faults=(f"is longer than {_LARGEST} bytes",))
    entries, faults = _read(text)
    return Configuration(path, entries, faults)


@lru_cache(maxsize=16)
def _read(text: str) -> tuple[tuple[Entry, ...], tuple[str, ...]]:
    try:
        content = json.loads(text)
    except RecursionError:
        return (), ("is nested too deeply",)
    except ValueError as error:
        return (), (f"is not JSON: {error}",)
    if not isinstance(content, dict):
        return (), (f"is {brief(content)} and not an object with {_LIST}",)
    content = _canonical(content, _TOP)
    listed = content.get(_LIST)
    entries = [_canonical(item, _KEYS) if isinstance(item, dict) else item for item in _list(listed)]
    faults = [*_top(content), *_entries(entries)]
    if len(faults) > _MOST_FAULTS:
        faults[_MOST_FAULTS:] = [f"has {len(faults) - _MOST_FAULTS} more faults"]
    return tuple(entry for item in entries if (entry := _offer(item)) is not None), tuple(faults)


def _canonical(content: dict[str, Any], keys: tuple[str, ...]) -> dict[str, Any]:
    # The plugin is written in Go, which reads the keys of JSON in any case.
    folded = {key.casefold(): key for key in keys}
    return {folded.get(key.casefold(), key): value for key, value in content.items()}


def _offer(entry: Any) -> Entry | None:
    if not isinstance(entry, dict):
        return None
    name, prefix, most = (
        entry.get("resourceName"),
        entry.get("resourcePrefix") or DEFAULT_PREFIX,
        entry.get("rdmaHcaMax"),
    )
    if not isinstance(name, str) or not isinstance(prefix, str):
        return None
    return Entry(f"{prefix}/{name}", most if _is_number(most) else None, "devices" in entry)


def _top(content: dict[str, Any]) -> Iterator[str]:
    yield from _unknown_keys(content, _TOP, "")
    interval = content.get(_INTERVAL)
    if interval is not None and (not _is_number(interval) or interval < 0):
        yield f"{_INTERVAL} is {brief(interval)} and not a number of seconds"
    if not _list(content.get(_LIST)):
        yield f"{_LIST} has no entries"


def _entries(entries: list[Any]) -> Iterator[str]:
    seen: dict[str, int] = {}
    for index, entry in enumerate(entries):
        place = f"{_LIST}[{index}]"
        if not isinstance(entry, dict):
            yield f"{place} is {brief(entry)} and not an object"
            continue
        yield from _entry(entry, place)
        name = entry.get("resourceName")
        if isinstance(name, str) and seen.setdefault(name, index) != index:
            yield f"{place}.resourceName is {brief(name)}, as in {_LIST}[{seen[name]}]"


def _entry(entry: dict[str, Any], place: str) -> Iterator[str]:
    yield from _unknown_keys(entry, _KEYS, f"{place}.")
    name, prefix, most = (entry.get(key) for key in ("resourceName", "resourcePrefix", "rdmaHcaMax"))
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        yield f"{place}.resourceName is {brief(name)}; it consists of letters, digits and _"
    if prefix is not None and not isinstance(prefix, str):
        yield f"{place}.resourcePrefix is {brief(prefix)} and not a text"
    if not _is_number(most) or most < 0:
        yield f"{place}.rdmaHcaMax is {brief(most)} and not a number of pods"
    yield from _devices(entry, place)


def _devices(entry: dict[str, Any], place: str) -> Iterator[str]:
    """Yield what is wrong with how devices are chosen: by names or by selectors, and exactly one of these."""
    devices, selectors = entry.get("devices"), entry.get("selectors")
    if isinstance(selectors, dict):
        selectors = {key: value for key, value in selectors.items() if value != []}  # an empty list selects all
    if devices and selectors:
        yield f"{place} has devices and selectors, and the plugin takes one of them"
    elif not devices and not selectors:
        yield f"{place} has neither selectors nor devices, so that nothing is chosen"
    if devices and not _are_names(devices):
        yield f"{place}.devices is {brief(devices)} and not a list of network interfaces"
    if selectors and not isinstance(selectors, dict):
        yield f"{place}.selectors is {brief(selectors)} and not an object"
    elif isinstance(selectors, dict):
        selectors = _canonical(selectors, SELECTORS)
        yield from _unknown_keys(selectors, SELECTORS, f"{place}.selectors.")
        for key in SELECTORS:
            if key in selectors and not _are_names(selectors[key]):
                yield f"{place}.selectors.{key} is {brief(selectors[key])} and not a list of texts"
            elif key in selectors and (reason := _selects_nothing(key, selectors[key])):
                yield f"{place}.selectors.{key} is {brief(selectors[key])} and selects nothing: {reason}"


def _selects_nothing(key: str, values: list[str]) -> str:
    """Return why no device has any of these values; empty where one may have. The plugin compares them as they are."""
    if key in ("vendors", "deviceIDs") and not any(map(_ID.fullmatch, values)):
        return "ids are four hexadecimal digits in small letters, e.g. 15b3"
    if key == "drivers" and _NO_PCI_DRIVERS.issuperset(values):
        needed = next((f"; write {_PCI_DRIVERS[value]}" for value in values if value in _PCI_DRIVERS), "")
        return f"no PCI device is bound to that driver{needed}"
    if key == "linkTypes" and not set(_LINK_TYPES).intersection(values):
        return f"the types are {' and '.join(_LINK_TYPES)}"
    return ""


def _unknown_keys(content: dict[str, Any], keys: tuple[str, ...], place: str) -> Iterator[str]:
    wrong = [key for key in content if key not in keys]
    if wrong:
        yield f"{place}{brief(wrong[0])} is not a key of it (known: {', '.join(keys)})"


def _are_names(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(name, str) and name for name in value)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _is_number(value: Any) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)
