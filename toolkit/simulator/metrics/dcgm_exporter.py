"""NVIDIA's exporter: its list of fields, and what it writes of a node's GPUs, by its release.

Source: NVIDIA/gpu-monitoring-tools, pkg and etc at the tags 2.0.0-rc.9 to 2.4.0, and NVIDIA/dcgm-exporter. Releases
before 2.4.0 have no Hostname, those before 2.3.0 know no names of 1.x.
"""

import csv
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, cast

from core.apis.client import Object
from toolkit.simulator import pods
from toolkit.simulator.metrics.gpu_fields import GpuState, values
from toolkit.simulator.metrics.text import Family, Sample
from toolkit.simulator.performance import buses, smi_query

COLLECTORS = "DCGM_EXPORTER_COLLECTORS"
"""Variable with the path of the list."""
Kind = Literal["gauge", "counter"]
Release = tuple[int, int]
TODAY: Release = (4, 0)
FIRST_WITH_OLD_NAMES, FIRST_WITH_HOSTNAME = (2, 3), (2, 4)
_OWN_LISTS = re.compile(r"/etc/dcgm-exporter/(default-counters|dcp-metrics-included)\.csv")
_OLD_LIST = "/etc/dcgm-exporter/1.x-compatibility-metrics.csv"
_TAG = re.compile(r":\d+(?:\.\d+)*-(?P<major>\d+)\.(?P<minor>\d+)\.")
_FIELD = re.compile(r"DCGM_FI_\w+")
_LATER = frozenset(
    f"DCGM_FI_DEV_{name}"
    for name in (
        *("UNCORRECTABLE_REMAPPED_ROWS", "CORRECTABLE_REMAPPED_ROWS", "ROW_REMAP_FAILURE"),
        "CLOCKS_EVENT_REASONS",
    )
)
"""Fields that releases 2.0 do not know (bindings/go/dcgm/const.go at 2.0.0-rc.9)."""
_DEFAULT = (
    *("SM_CLOCK", "MEM_CLOCK", "MEMORY_TEMP", "GPU_TEMP", "POWER_USAGE", "GPU_UTIL", "MEM_COPY_UTIL", "ENC_UTIL"),
    *("DEC_UTIL", "XID_ERRORS", "FB_FREE", "FB_USED"),
)
"""Gauges of the image's own lists; what else those have is left out here."""


class ListError(Exception):
    """The exporter exits: its list cannot be used. The text is its message."""


@dataclass(frozen=True)
class Counter:
    """One line of the list."""

    field: str
    kind: Kind
    text: str


@dataclass(frozen=True)
class HeldGpu:
    """A GPU, its energy since the start (J), and the pod that has it."""

    state: GpuState
    joules: float
    holder: Object | None


def release(pod: Object) -> Release:
    """Return major and minor of an exporter, from its image's tag; that of today where the tag has none."""
    match = _TAG.search(pods.image(pod).partition("@")[0])
    return (int(match["major"]), int(match["minor"])) if match else TODAY


def counters(pod: Object, read: Callable[[str], bytes | None]) -> tuple[Counter, ...]:
    """Return the list of an exporter's pod; `read` gives the files that are mounted. Raise ListError as it exits."""
    path = pods.variable(pod, COLLECTORS)
    if path is None or _OWN_LISTS.fullmatch(path):
        return tuple(Counter(f"DCGM_FI_DEV_{name}", "gauge", "a field of the image's own list") for name in _DEFAULT)
    content = read(path)
    if content is None and not (path == _OLD_LIST and release(pod) >= FIRST_WITH_OLD_NAMES):
        raise ListError(f"open {path}: no such file or directory")
    lines = enumerate(csv.reader((content or b"").decode().splitlines()))
    return tuple(_counter(number, line, release(pod)) for number, line in lines if line and not _is_comment(line))


def _is_comment(line: Sequence[str]) -> bool:
    return not line[0].strip() or line[0].lstrip().startswith("#")


def _counter(number: int, line: Sequence[str], exporter: Release) -> Counter:
    if len(line) != 3:  # noqa: PLR2004 - field, kind, help
        raise ListError(f"Malformed CSV record, failed to parse line {number} (`{line}`), expected 3 fields")
    field, kind, text = (column.strip(" ") for column in line)
    if not _FIELD.fullmatch(field) or (field in _LATER and exporter < FIRST_WITH_OLD_NAMES):
        raise ListError(f"Could not find DCGM field {field}")
    if kind not in ("gauge", "counter"):
        raise ListError(f"Could not find Prometheus metry type {kind}")
    return Counter(field, cast("Kind", kind), text)


def families(pod: Object, listed: Iterable[Counter], gpus: Sequence[HeldGpu]) -> Iterator[Family]:
    """Yield what an exporter's pod writes of its node's GPUs: what is on its list, and the GPU has."""
    values_of_gpus = [(_labels(pod, gpu), values(gpu.state, gpu.joules)) for gpu in gpus]
    for counter in listed:
        samples: tuple[Sample, ...] = tuple(
            (labels, fields[counter.field]) for labels, fields in values_of_gpus if counter.field in fields
        )
        yield Family(counter.field, counter.kind, counter.text, samples)


def _labels(pod: Object, gpu: HeldGpu) -> dict[str, str]:
    machine, number = gpu.state.machine, gpu.state.number
    labels = {"gpu": str(number), "UUID": smi_query.uuid(machine.name, number)}
    if release(pod) >= FIRST_WITH_HOSTNAME and machine.profile:
        labels |= {
            "pci_bus_id": buses.address(machine.profile, number),
            "device": f"nvidia{number}",
            "modelName": machine.profile.gpu.model,
            "Hostname": machine.name,
            "DCGM_FI_DRIVER_VERSION": machine.driver or "",
        }
    if gpu.holder is not None and pods.variable(pod, "DCGM_EXPORTER_KUBERNETES") != "false":
        meta = gpu.holder["metadata"]
        container = gpu.holder["spec"]["containers"][0]["name"]
        labels |= {"container": container, "namespace": meta["namespace"], "pod": meta["name"]}
    return labels
