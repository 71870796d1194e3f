"""ibstat: each HCA with its firmware, and the state of its ports."""

import re
from collections.abc import Iterable, Mapping

from pydantic import Field

from core.wording import plural
from toolkit.evidence.block_parser import Block, BlocksParser, compiled, cut, whole
from toolkit.evidence.criterion import Criterion, Outcome, passed, readings_of, row_proofs
from toolkit.evidence.host_parser import HostReading, typed
from toolkit.evidence.model import Record
from toolkit.evidence.parser import Taken
from toolkit.evidence.text import Line
from toolkit.evidence.verdict import Job, Status
from toolkit.evidence.wording import listed


class IbStatPort(Record):
    """One port."""

    device: str = Field(description="e.g. mlx5_0")
    port: int
    state: str = Field(description="Active, Initializing, Armed or Down")
    phys_state: str = Field(description="e.g. LinkUp, Polling, Disabled")
    rate_gbps: float = Field(description="Gb/s")
    base_lid: int
    sm_lid: int = Field(description="LID of the subnet manager; 0 on RoCE")
    guid: str = Field(description="port GUID")
    link_layer: str = Field(description="InfiniBand or Ethernet")

    @property
    def up(self) -> bool:
        """Return whether the port carries traffic."""
        return self.state == "Active" and self.phys_state == "LinkUp"


class Hca(Record):
    """One adapter."""

    device: str
    kind: str = Field(description="CA type, e.g. MT4115")
    firmware: str
    node_guid: str


class IbStat(HostReading):
    """Adapters and ports of a host."""

    rows: tuple[IbStatPort, ...] = Field(description="ports of which every line was read")
    adapters: tuple[Hca, ...]


_HEAD = re.compile(r"CA '([\w.-]+)'$")
_PORT = re.compile(r"\s+Port (\d+):$")
_GUID = r"0x[0-9a-f]{16}"
_OF_CA = compiled(
    {
        "CA type": r"(?P<kind>\S.*)",
        "Number of ports": r"\d+",
        "Firmware version": r"(?P<firmware>\S+)",
        "Hardware version": r"\S+",
        "Node GUID": rf"(?P<node_guid>{_GUID})",
        "System image GUID": _GUID,
    }
)
_OF_PORT = compiled(
    {
        "State": r"(?P<state>[A-Z][a-z]+)",
        "Physical state": r"(?P<phys_state>[A-Z]\w+(?: \w+)*)",
        "Rate": r"(?P<rate_gbps>\d{1,6}(?:\.\d{1,6})?)",
        "Base lid": r"(?P<base_lid>\d+)",
        "SM lid": r"(?P<sm_lid>\d+)",
        "Port GUID": rf"(?P<guid>{_GUID})",
        "Link layer": r"(?P<link_layer>InfiniBand|Ethernet)",
        "LMC": r"\d+",
        "Capability mask": r"0x[0-9a-f]+",
    }
)


class IbStatParser(BlocksParser):
    """Reads ibstat."""

    tool = "ibstat"
    kind = IbStat
    starts = rf"CA '[\w.-]+'$|{typed('ibstat')}(?!us)\b"
    command = re.compile(typed(r"ibstat(?!us)\b"))
    forms = _OF_PORT
    row = IbStatPort
    no_rows = "no port"

    def __init__(self) -> None:
        super().__init__()
        self._adapters: dict[str, Block] = {}
        self._device = ""

    def _read_line(self, line: Line) -> Taken:
        if (head := _HEAD.match(line.text)) is not None:
            if head[1] in self._adapters:
                return Taken.AGAIN
            self._device = head[1]
            self.block = self._adapters[head[1]] = Block(_OF_CA, line.number, device=head[1])
            return Taken.YES
        if (port := _PORT.match(line.text)) is not None and self._device:
            name = f"{self._device}/{port[1]}"
            return self.open(name, line.number, Taken.DAMAGED, device=self._device, port=port[1])
        if line.text.startswith("CA '"):
            self._device, self.block = "", None
            return Taken.DAMAGED
        return self.block.read_line(line.text) if self.block is not None and line.text[0].isspace() else Taken.NO

    def _facts(self) -> Mapping[str, object]:
        return {"adapters": tuple(Hca.model_validate(adapter.fields()) for adapter in whole(self._adapters))}

    def _missing(self) -> Iterable[str]:
        """Yield what adapters lack, and that they have fewer ports than they name."""
        yield from cut(self._adapters)
        for device, block in self._adapters.items():
            if int(block.get("Number of ports") or 0) != sum(name.startswith(f"{device}/") for name in self.blocks):
                yield f"{device}: ports missing"


def _one_firmware(job: Job) -> Outcome | None:
    adapters = [(node.file, hca) for node in readings_of(job, IbStat) for hca in node.adapters]
    if not adapters:
        return Outcome(Status.MISSING, "no adapter")
    versions: dict[str, set[str]] = {}
    for _, hca in adapters:
        versions.setdefault(hca.kind, set()).add(hca.firmware)
    mixed = {kind for kind, several in versions.items() if len(several) > 1}
    measured = listed(f"{kind}: {listed(sorted(several))}" for kind, several in sorted(versions.items()))
    shown = [(file, hca) for file, hca in adapters if hca.kind in mixed] or adapters
    proofs = row_proofs(shown)
    return Outcome(passed(not mixed), f"{measured}, on {plural(len(adapters), 'HCA')}", proofs=proofs)


CRITERIA = (
    Criterion(
        name="one-firmware",
        title="All HCAs of one kind have the same firmware",
        limit="one version of each CA type",
        unit="versions",
        applies="machines with ibstat output; several machines where their logs are judged together",
        source="N-3.5",
        judge=_one_firmware,
    ),
)
