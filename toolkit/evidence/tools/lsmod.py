"""lsmod: kernel modules, with those that use them."""

import re
from collections.abc import Mapping

from pydantic import Field

from toolkit.evidence.criterion import Criterion, Outcome, opening_proofs, passed, proofs_at, readings_of, row_proofs
from toolkit.evidence.host_parser import HostReading, RowsParser, record, typed
from toolkit.evidence.model import Record
from toolkit.evidence.parser import Taken
from toolkit.evidence.text import Line
from toolkit.evidence.verdict import Job, Proof, Request


class Module(Record):
    """A loaded module."""

    name: str
    size_bytes: int
    users: int = Field(description="references, of modules and others; -1 or -2: the kernel cannot count them")
    used_by: tuple[str, ...] = Field(description="modules")


class LsMod(HostReading):
    """Loaded modules."""

    rows: tuple[Module, ...]
    filtered: bool = Field(description="whether a part was shown (grep): a module that is not there may be loaded")

    def module(self, name: str) -> Module | None:
        """Return a module, None when it is not shown."""
        return next((row for row in self.rows if row.name == name), None)


_HEADER = re.compile(r"Module\s+Size\s+Used by$")
_ROW = re.compile(
    r"(?P<name>[a-z0-9][\w-]*)\s+(?P<size_bytes>\d+)\s+(?P<users>-?\d+)(?:\s+(?P<used_by>[A-Za-z0-9][\w,-]*))?$",
    re.IGNORECASE,
)
_KNOWN = r"(?:nv_peer_mem|nvidia\w*|gdrdrv|ib_\w+|iw_cm|rdma_\w+|mlx[45]_\w+|mlx_compat|mlxfw)"
"""Modules that identify a list without a heading: those that criteria need."""


class LsModParser(RowsParser):
    """Reads lsmod, whole or filtered."""

    tool = "lsmod"
    kind = LsMod
    starts = rf"Module\s+Size\s+Used by$|{_KNOWN}\s+\d+\s+-?\d+(?:\s+[\w,-]+)?$|{typed('lsmod')}\b"
    command = re.compile(typed(r"lsmod\b"))
    contiguous = True
    no_rows = "no module"

    def __init__(self) -> None:
        super().__init__()
        self._headed = False

    def _read_line(self, line: Line) -> Taken:
        if _HEADER.match(line.text):
            again = self._headed or bool(self.rows)
            self._headed = True
            return Taken.AGAIN if again else Taken.YES
        if (row := _ROW.match(line.text)) is None:
            return Taken.DAMAGED if re.match(rf"{_KNOWN}\s+\d+(?:\s+\S|$)", line.text) else Taken.NO
        used_by = tuple(
            module_name for module_name in (row["used_by"] or "").split(",") if module_name and module_name != "-"
        )
        return self.add(row["name"], record(Module, row, line, used_by=used_by))

    def _facts(self) -> Mapping[str, object]:
        return {"filtered": not self._headed}


PEER_MEMORY = ("nv_peer_mem", "nvidia_peermem")


def _peer_memory(job: Job) -> Outcome | None:
    listings = readings_of(job, LsMod)
    without: list[LsMod] = []
    lines: list[Proof] = []
    for listing in listings:
        loaded = next((module for name in PEER_MEMORY if (module := listing.module(name)) is not None), None)
        if loaded is None:
            without.append(listing)
        else:
            lines += proofs_at(listing.file, loaded.line)
    measured = f"not on {len(without)} of {len(listings)}" if without else "loaded"
    return Outcome(passed(not without), measured, proofs=opening_proofs(without) or tuple(lines), short=True)


def _by_module(request: Request) -> bool:
    """Return whether an HCA reaches the GPUs' memory by a module of its own; newer ones need none (dma-buf)."""
    profile = request.machine
    return request.has_rdma_fabric and (profile is None or profile.architecture.peer_memory == "nvidia-peermem")


def _nouveau(job: Job) -> Outcome | None:
    listings = [
        listing for listing in readings_of(job, LsMod) if listing.module("nouveau") is not None or not listing.filtered
    ]
    loaded = [(listing.file, module) for listing in listings if (module := listing.module("nouveau")) is not None]
    if not listings:
        return None
    proofs = row_proofs(loaded)
    return Outcome(passed(not loaded), "loaded" if loaded else "not loaded", proofs=proofs or opening_proofs(listings))


CRITERIA = (
    Criterion(
        name="peer-memory",
        title="The kernel module for GPUDirect is loaded",
        limit=" or ".join(PEER_MEMORY),
        applies="nodes on InfiniBand and RoCE with lsmod output, whose GPUs do not use dma-buf",
        source="R-3.2.3-3, E-05, E-63",
        judge=_peer_memory,
        when=_by_module,
    ),
    Criterion(
        name="nouveau-absent",
        title="The nouveau driver is not loaded",
        limit="not loaded",
        applies="nodes with complete lsmod output",
        source="R-3.4.1-7, S-6.1",
        judge=_nouveau,
    ),
)
