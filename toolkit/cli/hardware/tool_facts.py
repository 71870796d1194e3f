"""What each tool's output says of a node, as facts."""

import re
from collections.abc import Callable, Iterable
from typing import Any

from core.apis.names import CPU_ARCHITECTURES
from core.hardware import cpus
from core.hardware.gpus import product, unbranded
from toolkit.cli.hardware.device_lists import LIST_PARSERS, QUERY_PARSERS, IbvDevInfo, NvidiaSmiList
from toolkit.cli.hardware.facts import MOST_CPUS, NODE, Facts
from toolkit.cli.hardware.node_tools import (
    NODE_PARSERS,
    IbDev2NetDev,
    MemInfo,
    NodeLabels,
    Numactl,
    RdmaLink,
    SysfsDevices,
)
from toolkit.evidence.host_parser import HostReading
from toolkit.evidence.model import Reading
from toolkit.evidence.tools.ibstat import IbStat, IbStatParser
from toolkit.evidence.tools.ibstatus import IbStatus, IbStatusParser
from toolkit.evidence.tools.lscpu import LsCpu, LsCpuParser
from toolkit.evidence.tools.lspci import LsPci, LsPciParser
from toolkit.evidence.tools.nvidia_smi.model import NvidiaSmi
from toolkit.evidence.tools.nvidia_smi.parser import NvidiaSmiParser
from toolkit.evidence.tools.nvidia_smi_query import NvidiaSmiQuery
from toolkit.evidence.tools.nvidia_smi_topo import NvidiaSmiTopo, NvidiaSmiTopoParser

PARSERS = (
    NvidiaSmiTopoParser,
    *QUERY_PARSERS,
    NvidiaSmiParser,
    LsCpuParser,
    LsPciParser,
    IbStatParser,
    IbStatusParser,
    *NODE_PARSERS,
    *LIST_PARSERS,
)
_MOST_GPUS = 64
_PATHS = {name: name for name in ("PIX", "PXB", "PHB", "NODE", "SYS")} | {"SOC": "SYS"}
"""As topo -m prints them -> as a machine file has them; SOC is what old drivers print."""
_CHIP = re.compile(r"((?:ConnectX|BlueField)-\d\w*(?: [DLE]x)?)[^\[]*\[15b3:([0-9a-f]{4})\]")
_ARCHITECTURES = {name: own for own, name in CPU_ARCHITECTURES.items()}
_OF_A_DEVICE = {
    "guid": "port GUID",
    "interface": "interface",
    "pci": "PCI address",
    "ca_type": "CA type",
    "link_layer": "link layer",
}
"""Field of a row about a verbs device, or about a port of it -> what it says."""


def gather(readings: Iterable[Reading]) -> Facts:
    """Return the facts of all readings."""
    facts = Facts()
    for reading in readings:
        take = _TAKERS.get(type(reading))
        if take is None:
            continue
        if reading.incomplete not in (None, "no legend"):
            facts.incomplete.append(f"{reading.tool} ({reading.file}:{reading.first_line}): {reading.incomplete}")
        if isinstance(reading, HostReading):
            facts.add(NODE, "pod or host that prints", reading.source or None, reading)
        take(facts, reading)
    return facts


def _topo(facts: Facts, reading: NvidiaSmiTopo) -> None:
    names = {
        device: reading.nics.get(device, None if device.startswith("NIC") else device) for device in reading.devices
    }
    if reading.devices and not reading.shortened:
        count = sum(device.startswith("GPU") for device in reading.devices)
        facts.add(NODE, "number of GPUs", count, reading)
    lines = {row.name: row.line for row in reading.rows}
    for device, name in names.items():
        if name is not None and not device.startswith("GPU"):
            facts.add(name, "column of the matrix", device, reading, lines.get(device))
    for row in reading.rows:
        name = names[row.name]
        if row.name.startswith("GPU"):
            facts.add(row.name, "CPU affinity", _cpu_list(row.cpu_affinity), reading, row.line)
            facts.add(row.name, "NUMA affinity", _cpu_list(row.numa_affinity), reading, row.line)
        for column, path in row.links.items():
            first, other = sorted((name or row.name, names[column] or column), key=lambda text: (len(text), text))
            between_gpus = row.name.startswith("GPU") and column.startswith("GPU")
            if row.name != column and not (between_gpus and reading.pcie_alone):
                facts.add(first, f"path to {other}", _PATHS.get(path, path), reading, row.line)
    if reading.pcie_alone:
        facts.add(NODE, "matrix of PCIe alone", True, reading)
    unnamed = [device for device, name in names.items() if name is None]
    if unnamed or reading.shortened:
        facts.add(NODE, "unnamed columns", ", ".join(unnamed) or "...", reading)


def _smi(facts: Facts, reading: NvidiaSmi) -> None:
    if reading.complete and not reading.queries:
        facts.add(NODE, "number of GPUs", len(reading.rows), reading)
    for row in reading.rows:
        if row.index is not None:
            short = row.name is not None and row.name.endswith("...")
            if short:
                facts.add(NODE, "shortened model of the GPUs", row.name, reading, row.line)
            _gpu(facts, reading, row, f"GPU{row.index}", None if short else row.name)


def _smi_query(facts: Facts, reading: NvidiaSmiQuery) -> None:
    if reading.attached is not None and reading.attached <= _MOST_GPUS:
        facts.add(NODE, "number of GPUs", reading.attached, reading)
    for index, row in enumerate(reading.rows):
        facts.add(NODE, "architecture of the GPUs", row.architecture, reading, row.line)
        # With -i one GPU is shown, whose index is not printed.
        subject = f"GPU{index}" if reading.attached in (None, len(reading.rows)) else f"GPU at {row.bus}"
        _gpu(facts, reading, row, subject, row.name)


def _gpu(facts: Facts, reading: Reading, row: Any, subject: str, name: str | None) -> None:
    """Record what a row says of a GPU; a list of GPUs has neither bus nor memory."""
    bus = getattr(row, "bus", None)
    facts.add(NODE, "model of the GPUs", name, reading, row.line)
    facts.add(NODE, "product of the GPUs", unbranded(name).replace(" ", "-") if name else None, reading, row.line)
    facts.add(NODE, "memory of a GPU, MiB", getattr(row, "memory_mib", None), reading, row.line)
    facts.add(subject, "PCI address", bus.lower() if bus else None, reading, row.line)
    facts.add(subject, "UUID", row.uuid, reading, row.line)


def _smi_list(facts: Facts, reading: NvidiaSmiList) -> None:
    if reading.whole and reading.rows:
        facts.add(NODE, "number of GPUs", len(reading.rows), reading)
    for row in reading.rows:
        _gpu(facts, reading, row, f"GPU{row.index}", row.name)


def _lscpu(facts: Facts, reading: LsCpu) -> None:
    for what, value in (
        ("CPU architecture", reading.architecture),
        ("CPU model", reading.model),
        ("logical CPUs", reading.cpus),
        ("sockets", reading.sockets),
        ("cores of a socket", reading.cores_per_socket),
        ("threads of a core", reading.threads_per_core),
    ):
        facts.add(NODE, what, value, reading)
    for row in reading.rows:
        facts.add(f"NUMA node {row.node}", "CPUs", _cpu_list(row.cpus), reading, row.line)


def _numactl(facts: Facts, reading: Numactl) -> None:
    for row in reading.rows:
        facts.add(f"NUMA node {row.node}", "CPUs", _cpu_list(row.cpus), reading, row.line)
        facts.add(f"NUMA node {row.node}", "memory, MiB", row.size_mib, reading, row.line)


def _meminfo(facts: Facts, reading: MemInfo) -> None:
    facts.add(NODE, "MemTotal, KiB", reading.total_kib, reading)


def _lspci(facts: Facts, reading: LsPci) -> None:
    gpus = 0
    for row in reading.rows:
        if row.address is None or row.name is None:
            continue
        address = row.address if row.address.count(":") > 1 else f"0000:{row.address}"
        facts.add(f"PCI {address}", "device", row.name, reading, row.line)
        facts.add(f"PCI {address}", "NUMA node", row.numa_node, reading, row.line)
        gpus += (row.kind or "").startswith("3D controller") and "[10de:" in row.name
        if (chip := _CHIP.search(row.name)) is not None:
            # The CA type that ibstat prints is the PCI device id as a decimal number.
            facts.add(f"MT{int(chip[2], 16)}", "adapter", chip[1], reading, row.line)
            facts.add(NODE, "PCI devices of the adapters", True, reading, row.line)
    if gpus:
        facts.add(NODE, "number of GPUs", gpus, reading)


def _devices(facts: Facts, reading: SysfsDevices | IbvDevInfo | IbDev2NetDev | RdmaLink | IbStat | IbStatus) -> None:
    """Record what rows say of devices, and of the first port of each."""
    for row in reading.rows:
        if getattr(row, "port", 1) == 1:
            for field, what in _OF_A_DEVICE.items():
                facts.add(row.device, what, getattr(row, field, None), reading, row.line)


def _ibdev2netdev(facts: Facts, reading: IbDev2NetDev) -> None:
    if reading.rows:
        # What it does not list has none; `rdma link` lists ports of InfiniBand without IPoIB as well.
        facts.add(NODE, "interfaces of all ports", True, reading)
    _devices(facts, reading)


def _rdma_link(facts: Facts, reading: RdmaLink) -> None:
    _devices(facts, reading)
    for row in reading.rows:
        if row.port == 1:
            facts.add(row.device, "link layer", "InfiniBand" if row.subnet else None, reading, row.line)


def _ibstat(facts: Facts, reading: IbStat) -> None:
    for adapter in reading.adapters:
        facts.add(adapter.device, "CA type", adapter.kind, reading, adapter.line)
    _ports(facts, reading)


def _ports(facts: Facts, reading: IbStat | IbStatus) -> None:
    _devices(facts, reading)
    for row in reading.rows:
        if row.port == 1:
            rate = int(row.rate_gbps) or None if row.up else None
            facts.add(row.device, "rate, Gb/s", rate, reading, row.line)


def _labels(facts: Facts, reading: NodeLabels) -> None:
    labels = {row.key: row for row in reading.rows}
    # With MIG, instances may be counted in place of GPUs.
    divided = any("-MIG-" in row.value for row in reading.rows)
    for key, what, convert in _LABELS:
        if (row := labels.get(key)) is not None and not (divided and what == "number of GPUs"):
            facts.add(NODE, what, convert(row.value), reading, row.line)
    for row in reading.rows:
        vendor = re.fullmatch(r"feature\.node\.kubernetes\.io/pci-(?:[0-9a-f]{4}_)?([0-9a-f]{4})\.present", row.key)
        if vendor is not None and row.value == "true":
            facts.add(f"PCI vendor {vendor[1]}", "present", True, reading, row.line)


def _count(text: str) -> int | None:
    return int(text) if re.fullmatch(r"[0-9]{1,2}", text) else None


_LABELS: tuple[tuple[str, str, Callable[[str], Any]], ...] = (
    ("kubernetes.io/hostname", "name", lambda text: text or None),
    ("kubernetes.io/arch", "CPU architecture", _ARCHITECTURES.get),
    ("nvidia.com/gpu.product", "product of the GPUs", lambda text: product(text) or None),
    ("nvidia.com/gpu.count", "number of GPUs", _count),
    ("nvidia.com/gpu.machine", "machine", lambda text: text or None),
)


def _cpu_list(text: str | None) -> str | None:
    """Return a list of numbers in its shortest form; None for none, and for one that no machine has."""
    if text is None or not text:
        return text
    if any(int(number[:9]) >= MOST_CPUS for number in re.findall(r"\d+", text)):
        return None
    try:
        return cpus.write(cpus.parse(text))
    except ValueError:
        return None


_TAKERS: dict[type[Reading], Callable[[Facts, Any], None]] = {
    NvidiaSmiTopo: _topo,
    NvidiaSmi: _smi,
    NvidiaSmiQuery: _smi_query,
    NvidiaSmiList: _smi_list,
    LsCpu: _lscpu,
    Numactl: _numactl,
    MemInfo: _meminfo,
    LsPci: _lspci,
    IbDev2NetDev: _ibdev2netdev,
    RdmaLink: _rdma_link,
    SysfsDevices: _devices,
    IbStat: _ibstat,
    IbStatus: _ports,
    IbvDevInfo: _devices,
    NodeLabels: _labels,
}
