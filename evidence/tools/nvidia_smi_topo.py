"""`nvidia-smi topo -m`: how GPUs and HCAs of a node are connected (R-4.4-3, D-2.6)."""

import re
from collections.abc import Mapping
from typing import ClassVar

from pydantic import Field

from evidence.blocks import HostParser, HostReading, typed
from evidence.parser import Common, Taken
from evidence.text import Line
from hardware.model import Model


class TopologyRow(Model):
    """One device of the matrix."""

    name: str = Field(description="e.g. GPU0, mlx5_0, NIC0")
    links: Mapping[str, str] = Field(description="other device -> X, NV1 to NV18, PIX, PXB, PHB, NODE or SYS")
    cpu_affinity: str | None = Field(description="list of CPUs, e.g. 0-19,40-59; None: not printed")
    numa_affinity: str | None = Field(description="NUMA node; None: not printed")
    line: int


class NvidiaSmiTopo(HostReading):
    """The matrix."""

    devices: tuple[str, ...] = Field(description="columns, in the order of the header")
    rows: tuple[TopologyRow, ...] = Field(description="rows with a cell for each column; damaged ones are left out")
    nics: Mapping[str, str] = Field(description="NIC0 -> mlx5_0, of the legend of newer drivers; else empty")
    shortened: bool = Field(description="whether columns were left out by hand, as `...`")
    asymmetric: tuple[str, ...] = Field(
        description="self-check: pairs whose two cells differ, or a device that is not X to itself, e.g. GPU0-GPU3"
    )

    def row(self, name: str) -> TopologyRow | None:
        """Return the row of a device, also by the name that the legend gives it; None when there is none."""
        found = {row.name: row for row in self.rows}
        aliases = {device: nic for nic, device in self.nics.items()}
        return found.get(name) or found.get(aliases.get(name, ""))


_DEVICE = r"(?:GPU\d+|NIC\d+|(?:mlx|bnxt_re|roce|ib|irdma|efa|hns|cxi|qedr|ionic|rdma)\w*)"
_CELL = re.compile(r"X|NV\d+|PIX|PXB|PHB|PSB|NODE|SYS|SOC|\.\.\.")
_ROW = re.compile(rf"\s*({_DEVICE})\s+(.*)$")
_COLUMN = rf"(?:{_DEVICE}|\.\.\.)"
_HEADER = re.compile(rf"\s*(GPU0(?:\s+{_COLUMN})*)(?:\s+\[?(?:CPU|NUMA)\b.*)?$")
_AFFINITY = re.compile(r"\d+(?:-\d+)?(?:,\d+(?:-\d+)?)*|N/A")
_LEGEND = re.compile(r"\s+(?:X|SYS|NODE|PHB|PXB|PIX|PSB|SOC|NV#)\s+= ")
_NIC = re.compile(r"\s*(NIC\d+): ([\w.-]+)$")
_OTHER = re.compile(r"\s*(?:Legend:|NIC Legend:|\.\.\.)$")


class NvidiaSmiTopoParser(HostParser):
    """Reads the matrix and its legends."""

    tool: ClassVar[str] = "nvidia-smi-topo"
    starts: ClassVar[str] = rf"\s*GPU0(?:\s+{_DEVICE})*(?:\s+\.\.\.)?\s+(?:CPU Affinity|{_DEVICE}\s*$)|" + typed(
        r"nvidia-smi topo\b"
    )
    command: ClassVar[re.Pattern[str] | None] = re.compile(typed(r"nvidia-smi topo\b"))

    def __init__(self) -> None:
        super().__init__()
        self._columns: tuple[str, ...] = ()
        self._rows: dict[str, TopologyRow] = {}
        self._nics: dict[str, str] = {}
        self._legend = False

    def take(self, line: Line) -> Taken:
        """Read a line."""
        text = line.text
        if (header := _HEADER.match(text)) is not None:
            return self._header(tuple(header[1].split()))
        if not self._columns:
            return Taken.NO
        if (row := _ROW.match(text)) is not None:
            return self._row(row[1], row[2].split(), line.number)
        if (nic := _NIC.match(text)) is not None:
            self._nics[nic[1]] = nic[2]
        elif _LEGEND.match(text):
            self._legend = self._legend or "Self" in text
        elif not _OTHER.match(text):
            return Taken.NO
        return Taken.YES

    def _header(self, columns: tuple[str, ...]) -> Taken:
        if self._columns:
            return Taken.AGAIN
        if len(set(columns)) < len(columns):
            return Taken.DAMAGED
        self._columns = columns
        return Taken.YES

    def _row(self, name: str, cells: list[str], line: int) -> Taken:
        links, rest = cells[: len(self._columns)], cells[len(self._columns) :]
        whole = len(links) == len(self._columns) and all(map(_CELL.fullmatch, links))
        known = name in self._columns and name not in self._rows
        if not whole or not known or len(rest) > 3 or not all(map(_AFFINITY.fullmatch, rest)):  # noqa: PLR2004
            return Taken.DAMAGED
        told = [None if one == "N/A" else one for one in (*rest, "N/A", "N/A")]
        self._rows[name] = TopologyRow(
            name=name,
            links={to: how for to, how in zip(self._columns, links, strict=True) if to != "..."},
            cpu_affinity=told[0],
            numa_affinity=told[1],
            line=line,
        )
        return Taken.YES

    def reading(self, common: Common) -> NvidiaSmiTopo:
        """Return the matrix."""
        named = [device for device in self._columns if device != "..."]
        lost = [device for device in named if device not in self._rows]
        unnamed = [device for device in named if device.startswith("NIC") and device not in self._nics]
        missing = (
            None if self._columns else "no matrix",
            f"no row {', '.join(lost)}" if lost else None,
            "columns left out" if "..." in self._columns else None,
            f"no legend of {', '.join(unnamed)}" if unnamed else None,
            None if self._legend else "no legend",
        )
        return NvidiaSmiTopo(
            tool=self.tool,
            source=self.source,
            devices=tuple(named),
            rows=tuple(self._rows.values()),
            nics=self._nics,
            shortened="..." in self._columns,
            asymmetric=_asymmetric(self._rows),
            **self.ending(*missing),
            **common,
        )


def _asymmetric(rows: Mapping[str, TopologyRow]) -> tuple[str, ...]:
    """Return the pairs that contradict each other."""
    wrong = [name for name, row in rows.items() if row.links.get(name) != "X"]
    names = list(rows)
    pairs = ((one, two) for at, one in enumerate(names) for two in names[at + 1 :])
    wrong += [f"{one}-{two}" for one, two in pairs if rows[one].links.get(two) != rows[two].links.get(one)]
    return tuple(wrong)
