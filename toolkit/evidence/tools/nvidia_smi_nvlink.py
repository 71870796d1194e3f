"""`nvidia-smi nvlink --status`: the NVLinks of each GPU, with what each carries."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping

from pydantic import Field

from core.wording import plural
from toolkit.evidence.criterion import Criterion, Outcome, opening_proofs, passed, readings_of, row_proofs
from toolkit.evidence.host_parser import HostParser, HostReading, typed
from toolkit.evidence.model import Record
from toolkit.evidence.parser import Taken, number
from toolkit.evidence.text import Line
from toolkit.evidence.verdict import Job, Status
from toolkit.evidence.wording import listed


class GpuLink(Record):
    """One NVLink of a GPU."""

    gpu: int
    link: int
    gb_s: float | None = Field(description="GB/s in one direction; None: inactive")


class NvLinkStatus(HostReading):
    """NVLinks of the GPUs that a pod or host sees."""

    gpus: tuple[int, ...] = Field(description="GPUs in the order printed")
    rows: tuple[GpuLink, ...]

    def _figures(self) -> str:
        return f"{sum(row.gb_s is not None for row in self.rows)} of {len(self.rows)} NVLinks active"


_COMMAND = typed(r"nvidia-smi nvlink\b.*(?:-s\b|--status)")
_GPU = re.compile(r"GPU (\d{1,3}): \S.* \(UUID: GPU-[0-9a-f-]+\)$")
_LINK = re.compile(r"\s+Link (\d{1,2}): (?:<inactive>|(\d{1,4}(?:[.,]\d{1,6})?) GB/s)$")
_HEAD = re.compile(r"\s+Link \d")


class NvLinkParser(HostParser):
    """Reads the status; a GPU that comes again starts another run."""

    tool = "nvidia-smi-nvlink"
    kind = NvLinkStatus
    starts = _COMMAND
    command = re.compile(_COMMAND)

    def __init__(self) -> None:
        super().__init__()
        self._gpus: list[int] = []
        self._rows: list[GpuLink] = []

    def _read_line(self, line: Line) -> Taken:
        if (gpu := _GPU.match(line.text)) is not None:
            if int(gpu[1]) in self._gpus:
                return Taken.AGAIN
            self._gpus.append(int(gpu[1]))
            return Taken.YES
        if (link := _LINK.match(line.text)) is not None and self._gpus:
            rate = number(link[2]) if link[2] else None
            self._rows.append(GpuLink(gpu=self._gpus[-1], link=int(link[1]), gb_s=rate, line=line.number))
            return Taken.YES
        return Taken.DAMAGED if self._gpus and _HEAD.match(line.text) else Taken.NO

    def _facts(self) -> Mapping[str, object]:
        return {"gpus": tuple(self._gpus), "rows": tuple(self._rows)}

    def _missing(self) -> Iterable[str | None]:
        bare = sorted({*self._gpus} - {row.gpu for row in self._rows})
        return (None if self._gpus else "no GPU", f"no link of GPU {listed(map(str, bare))}" if bare else None)


def _active(job: Job) -> Outcome | None:
    links = job.request.known_machine.nvlink.links
    # In a pod with some of a machine's GPUs they are renumbered: a GPU has as many links as one of the machine has.
    numbers = {sum(row) for row in links}
    limit = f"all active, {listed(map(str, sorted(numbers)))} of each GPU" if numbers else "all active"
    outputs = readings_of(job, NvLinkStatus)
    rows = [(output.file, row) for output in outputs for row in output.rows]
    if not rows:
        return Outcome(Status.MISSING, "no link", limit, opening_proofs(outputs))
    down = [(file, row) for file, row in rows if row.gb_s is None]
    inactive = [f"GPU {row.gpu} link {row.link}: inactive" for _, row in down]
    counts = [(gpu, count) for output in outputs for gpu, count in Counter(row.gpu for row in output.rows).items()]
    incomplete = [f"GPU {gpu}: {plural(count, 'link')}" for gpu, count in counts if numbers and count not in numbers]
    proofs = row_proofs(down) or opening_proofs(outputs)
    measured = listed([*inactive, *incomplete], 4) if inactive or incomplete else f"{len(rows)} active"
    return Outcome(passed(not inactive and not incomplete), measured, limit, proofs, short=not inactive)


CRITERIA = (
    Criterion(
        name="nvlinks-active",
        title="Every NVLink is active",
        limit="all active, and as many per GPU as in the profile",
        unit="links",
        tolerance="the number of links, where no document prints the profile's matrix",
        applies="logs of nvidia-smi nvlink --status, of a known profile",
        source="R-4.4-3",
        judge=_active,
        when=lambda request: request.machine is not None,
    ),
)
