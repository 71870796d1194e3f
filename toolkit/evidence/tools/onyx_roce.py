"""`show roce` of Onyx: whether the switch loses no RoCE packet."""

import re
from collections.abc import Iterable, Mapping

from pydantic import Field

from toolkit.evidence.criterion import Criterion, Outcome, opening_proofs, passed, readings_of
from toolkit.evidence.host_parser import HostParser, HostReading
from toolkit.evidence.parser import Taken
from toolkit.evidence.text import Line
from toolkit.evidence.tools.onyx_config import PROMPT
from toolkit.evidence.verdict import Job, Status
from toolkit.evidence.wording import listed


class OnyxRoce(HostReading):
    """The state of RoCE on one switch."""

    mode: str | None = Field(description="lossless, semi-lossless, lossy, or N/A where it is off; None: not read")
    trust: str | None = Field(description="what classes packets: L2, L3 or both; None: not printed")
    pfc: str | None = Field(description="enabled or disabled; None: not printed")
    priorities: tuple[int, ...] = Field(description="switch priorities that PFC is enabled for")
    ecn_min: int | None = Field(description="congestion control: queue from which packets are marked, KB")
    ecn_max: int | None = Field(description="queue from which all are marked, KB")
    classes: Mapping[int, int] = Field(description="switch priority -> traffic class, of those that RoCE uses")

    def _figures(self) -> str:
        return f"{self.mode}, PFC on {listed(map(str, self.priorities)) or 'none'}"


_COMMAND = rf"(?:{PROMPT})?show roce\b"
_PAIR = re.compile(
    r"\s*(RoCE mode|LLDP|Port trust mode|Selector|Protocol|Priority|Mode|Min|Max|PFC|switch-priority \d)\s*:\s*(\S.*)$"
)
_PRIORITY = re.compile(r"switch-priority (\d)$")
_CLASS = re.compile(r"\s*(\d)\s+(\d)\s+(?:RoCE|CNP)\s")
_NUMBER = re.compile(r"\d{1,9}")
_OTHER = re.compile(
    r"\s*-{5,}$|\s*(?:Application TLV|Port congestion-control|RoCE (?:used traffic-classes|buffer pools))"
    r"|\s*(?:Switch-Priority|Traffic|Pool|Type|Memory|actual)\b|\s*(?:lossy|lossless)-\w+"
)


class OnyxRoceParser(HostParser):
    """Reads the state; pools of buffers are passed over."""

    tool = "onyx-roce"
    kind = OnyxRoce
    starts = rf"RoCE mode\s*:|{_COMMAND}"
    command = re.compile(_COMMAND)

    def __init__(self) -> None:
        super().__init__()
        self._values: dict[str, str] = {}
        self._classes: dict[int, int] = {}

    def _read_line(self, line: Line) -> Taken:
        text = line.text
        if (pair := _PAIR.match(text)) is not None:
            key = pair[1].lower()
            if key in self._values:
                return Taken.AGAIN if key == "roce mode" else Taken.YES
            self._values[key] = pair[2].strip()
            return Taken.YES
        if (row := _CLASS.match(text)) is not None:
            self._classes[int(row[1])] = int(row[2])
            return Taken.YES
        return Taken.YES if _OTHER.match(text) else Taken.NO

    def _facts(self) -> Mapping[str, object]:
        enabled = [
            match[1] for key, state in self._values.items() if (match := _PRIORITY.match(key)) and state == "enabled"
        ]
        return {
            "mode": self._values.get("roce mode"),
            "trust": self._values.get("port trust mode"),
            "pfc": self._values.get("pfc"),
            "priorities": tuple(map(int, enabled)),
            "ecn_min": self._number("min"),
            "ecn_max": self._number("max"),
            "classes": self._classes,
        }

    def _number(self, key: str) -> int | None:
        text = self._values.get(key, "")
        return int(text) if _NUMBER.fullmatch(text) else None

    def _missing(self) -> Iterable[str | None]:
        return (None if "roce mode" in self._values else "no RoCE mode",)


def _lossless(job: Job) -> Outcome | None:
    outputs = [output for output in readings_of(job, OnyxRoce) if output.mode is not None]
    if not outputs:
        return Outcome(Status.MISSING, "no RoCE mode")
    lossless = [
        output.mode == "lossless"
        and output.priorities == (3,)
        and output.pfc == "enabled"
        and "L3" in (output.trust or "")
        for output in outputs
    ]
    measured = listed(
        f"{output.mode}, PFC on {listed(map(str, output.priorities)) or 'none'}, trust {output.trust}"
        for output in outputs
    )
    return Outcome(passed(all(lossless)), measured, proofs=opening_proofs(outputs))


CRITERIA = (
    Criterion(
        name="switch-lossless",
        title="The switch is lossless for RoCE",
        limit="mode lossless, PFC on switch priority 3 alone, trust L3 (DSCP)",
        applies="Onyx switches with show roce output",
        source="N-1.1",
        judge=_lossless,
    ),
)
