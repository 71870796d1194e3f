"""`nvidia-smi topo -m`: how GPUs and HCAs of a node are connected."""

import re
from collections.abc import Iterable, Iterator, Mapping

from pydantic import Field

from core.hardware import cpus
from core.hardware.profiles import Hca, Profile
from toolkit.evidence.criterion import Criterion, Outcome, passed, proofs_at, readings_of
from toolkit.evidence.host_parser import HostParser, HostReading, typed
from toolkit.evidence.model import Record
from toolkit.evidence.parser import Taken
from toolkit.evidence.text import Line
from toolkit.evidence.verdict import Job, Status
from toolkit.evidence.wording import listed


class TopologyRow(Record):
    """One device of the matrix."""

    name: str = Field(description="e.g. GPU0, mlx5_0, NIC0")
    links: Mapping[str, str] = Field(description="other device -> X, NV1 to NV18, PIX, PXB, PHB, NODE or SYS")
    cpu_affinity: str | None = Field(description="list of CPUs, e.g. 0-19,40-59; None: not printed")
    numa_affinity: str | None = Field(description="NUMA node; None: not printed")


class NvidiaSmiTopo(HostReading):
    """The matrix."""

    devices: tuple[str, ...] = Field(description="columns, in the order of the header")
    rows: tuple[TopologyRow, ...] = Field(description="rows with a cell for each column; damaged ones are left out")
    nics: Mapping[str, str] = Field(description="NIC0 -> mlx5_0, of the legend of newer drivers; else empty")
    pcie_alone: bool = Field(description="whether it is of `topo -mp`, which shows no NVLinks")
    shortened: bool = Field(description="whether columns were left out manually, as `...`")
    asymmetric: tuple[str, ...] = Field(
        description="self-check: pairs whose two cells differ, or a device that is not X to itself, e.g. GPU0-GPU3"
    )

    def row(self, name: str) -> TopologyRow | None:
        """Return the row of a device, also by the name that the legend gives it; None when there is none."""
        by_name = {row.name: row for row in self.rows}
        aliases = {device: nic for nic, device in self.nics.items()}
        return by_name.get(name) or by_name.get(aliases.get(name, ""))


_DEVICE = r"(?:GPU\d+|NIC\d+|(?:mlx|bnxt_re|roce|ib|irdma|efa|hns|cxi|qedr|ionic|rdma)\w*)"
_CELL = re.compile(r"X|NV\d+|PIX|PXB|PHB|PSB|NODE|SYS|SOC|\.\.\.")
_ROW = re.compile(rf"\s*({_DEVICE})\s+(.*)$")
_COLUMN = rf"(?:{_DEVICE}|\.\.\.)"
# Terminals that wrap lines lose the blanks where they do, so that NIC11NIC12 and SYSSYS are two columns each.
_GLUED_DEVICE = r"(?:GPU|NIC)\d+"
_GLUED_CELLS = re.compile(rf"(?:{_CELL.pattern}){{2,}}")
_HEADER = re.compile(rf"\s*(GPU0(?:\s+{_COLUMN}|{_GLUED_DEVICE})*)(?:\s+\[?(?:CPU|NUMA)\b.*)?$")
_DEVICES = re.compile(rf"{_GLUED_DEVICE}|{_COLUMN}")
_AFFINITY = re.compile(r"\d+(?:-\d+)?(?:,\d+(?:-\d+)?)*|N/A")
_LEGEND = re.compile(r"\s+(?:X|SYS|NODE|PHB|PXB|PIX|PSB|SOC|NV#)\s+= ")
_NIC = re.compile(r"\s*(NIC\d+): ([\w.-]+)$")
_OTHER = re.compile(r"\s*(?:Legend:|NIC Legend:|\.\.\.)$")


class NvidiaSmiTopoParser(HostParser):
    """Reads the matrix and its legends."""

    tool = "nvidia-smi-topo"
    kind = NvidiaSmiTopo
    starts = rf"\s*GPU0(?:\s+{_DEVICE}|{_GLUED_DEVICE})*(?:\s+\.\.\.)?\s+(?:CPU Affinity|{_DEVICE}\s*$)|" + typed(
        r"nvidia-smi topo\b"
    )
    command = re.compile(typed(r"nvidia-smi topo\b"))

    def __init__(self) -> None:
        super().__init__()
        self._columns: tuple[str, ...] = ()
        self._rows: dict[str, TopologyRow] = {}
        self._nics: dict[str, str] = {}
        self._legend = self._explains_pix = self._explains_links = self._of_pcie = False

    def _read_command(self, text: str) -> None:
        self._of_pcie = re.search(r" -(?:mp|p\b|-matrix_pci)", text) is not None

    def _read_line(self, line: Line) -> Taken:
        text = line.text
        if (header := _HEADER.match(text)) is not None:
            return self._header(tuple(_DEVICES.findall(header[1])))
        if not self._columns or "==>" in text:  # ibdev2netdev
            return Taken.NO
        if (row := _ROW.match(text)) is not None:
            return self._row(row[1], [*_cells(row[2])], line.number)
        if (nic := _NIC.match(text)) is not None:
            self._nics[nic[1]] = nic[2]
        elif _LEGEND.match(text):
            self._legend = self._legend or "Self" in text
            self._explains_pix = self._explains_pix or text.lstrip().startswith("PIX")
            self._explains_links = self._explains_links or text.lstrip().startswith("NV#")
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
        is_complete = len(links) == len(self._columns) and all(map(_CELL.fullmatch, links))
        is_expected = name in self._columns and name not in self._rows
        if not is_complete or not is_expected or len(rest) > 3 or not all(map(_AFFINITY.fullmatch, rest)):  # noqa: PLR2004
            return Taken.DAMAGED
        affinity = [None if cell == "N/A" else cell for cell in (*rest, "N/A", "N/A")]
        self._rows[name] = TopologyRow(
            name=name,
            links={to: how for to, how in zip(self._columns, links, strict=True) if to != "..."},
            cpu_affinity=affinity[0],
            numa_affinity=affinity[1],
            line=line,
        )
        return Taken.YES

    @property
    def _named(self) -> list[str]:
        return [device for device in self._columns if device != "..."]

    def _facts(self) -> Mapping[str, object]:
        return {
            "devices": tuple(self._named),
            "rows": tuple(self._rows.values()),
            "nics": self._nics,
            "pcie_alone": self._of_pcie or self._legend_of_pcie(),
            "shortened": "..." in self._columns,
            "asymmetric": _asymmetric(self._rows),
        }

    def _legend_of_pcie(self) -> bool:
        """Return whether the legend explains paths over PCIe and no links, and no cell is a link."""
        shown = any(cell.startswith("NV") for row in self._rows.values() for cell in row.links.values())
        return self._explains_pix and not self._explains_links and not shown

    def _missing(self) -> Iterable[str | None]:
        lost = [device for device in self._named if device not in self._rows]
        unnamed = [device for device in self._named if device.startswith("NIC") and device not in self._nics]
        return (
            None if self._columns else "no matrix",
            f"no row {', '.join(lost)}" if lost else None,
            "columns left out" if "..." in self._columns else None,
            f"no legend of {', '.join(unnamed)}" if unnamed else None,
            None if self._legend else "no legend",
        )


def _cells(text: str) -> Iterator[str]:
    for token in text.split():
        yield from _CELL.findall(token) if _GLUED_CELLS.fullmatch(token) else (token,)


def _asymmetric(rows: Mapping[str, TopologyRow]) -> tuple[str, ...]:
    wrong = [name for name, row in rows.items() if row.links.get(name) != "X"]
    names = list(rows)
    pairs = ((name, other) for index, name in enumerate(names) for other in names[index + 1 :])
    wrong += [f"{name}-{other}" for name, other in pairs if rows[name].links.get(other) != rows[other].links.get(name)]
    return tuple(wrong)


def _topology(job: Job) -> Outcome | None:
    profile = job.request.known_machine
    shown = [matrix for matrix in readings_of(job, NvidiaSmiTopo) if matrix.rows]
    if not shown:
        return Outcome(Status.MISSING, "no matrix")
    faults = [(matrix.file, line, text) for matrix in shown for line, text in _differences(matrix, profile)]
    measured = listed((text for *_, text in faults), 4) if faults else "as the profile has it"
    places = [(file, line) for file, line, _ in faults[:4]] or [(matrix.file, matrix.first_line) for matrix in shown]
    proofs = tuple(proof for file, line in places for proof in proofs_at(file, line))
    return Outcome(passed(not faults), measured, profile.name, proofs)


def _differences(topo: NvidiaSmiTopo, profile: Profile) -> Iterator[tuple[int, str]]:
    """Yield what differs from the profile, with its line; what is not printed is not compared."""
    for pair in topo.asymmetric:
        yield topo.first_line, f"{pair}: two cells differ"
    gpus = {row.name: row for row in topo.rows if row.name.startswith("GPU")}
    # A container with some of a node's GPUs renumbers them, and hides HCAs: their distances cannot be compared.
    if len(gpus) != profile.gpus:
        return
    for name, row in gpus.items():
        index = int(name.removeprefix("GPU"))
        if not topo.pcie_alone:
            yield from ((row.line, text) for text in _links(name, row.links, profile, index))
        planned_cpus = next((cpus.write(node.cpu_set) for node in profile.numa if index in node.gpus), None)
        if planned_cpus and row.cpu_affinity not in (None, "N/A", planned_cpus):
            yield row.line, f"{name}: CPUs {row.cpu_affinity}"
    for hca in (*profile.hcas, *profile.storage_hcas):
        if (hca_row := topo.row(hca.name)) is not None:
            yield from ((hca_row.line, text) for text in _paths(hca, hca_row.links))


def _links(name: str, links: Mapping[str, str], profile: Profile, index: int) -> Iterator[str]:
    for other, count in enumerate(profile.nvlink.links[index] if profile.nvlink.links else ()):
        link = links.get(f"GPU{other}")
        if other != index and link is not None and link != f"NV{count}" and (count or link.startswith("NV")):
            yield f"{name} to GPU{other}: {link}"


def _paths(hca: Hca, links: Mapping[str, str]) -> Iterator[str]:
    for gpu in hca.gpus:
        distance = links.get(f"GPU{gpu}")
        if distance is not None and distance != hca.distance:
            yield f"{hca.name} to GPU{gpu}: {distance}, not {hca.distance}"


CRITERIA = (
    Criterion(
        name="topology",
        title="GPUs and HCAs are connected as in the profile",
        limit="NVLinks, HCA distances and CPUs of the profile, in a symmetric matrix",
        tolerance="columns that are not printed, and matrices with only some of the GPUs, are not compared",
        applies="jobs of a known profile with nvidia-smi topo output",
        source="R-4.4-3, D-2.6",
        judge=_topology,
        when=lambda request: request.machine is not None,
    ),
)
