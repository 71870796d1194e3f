"""A run of nccl-tests while it is being read, and what it amounts to in the end."""

from dataclasses import dataclass, field
from typing import Literal

from core.wording import plural
from toolkit.evidence.model import Unread
from toolkit.evidence.parser import Common, ending
from toolkit.evidence.tools.nccl_tests import checks
from toolkit.evidence.tools.nccl_tests.checks import Measured
from toolkit.evidence.tools.nccl_tests.model import Contradiction, Device, NcclTests, Settings
from toolkit.evidence.tools.nccl_tests.primitives import PRIMITIVES

FAILURES_KEPT = 100
NAMED = 5
"""Missing sizes that are named in a sentence."""
MEAN_PRECISION = 0.0051
"""How far a mean of figures with two digits may be from that of the figures themselves, in GB/s; %g adds 5e-6 of it."""


@dataclass
class Run:
    """What was read so far."""

    test: str | None = None
    test_from: Literal["printed", "command"] | None = None
    version: str | None = None
    nccl_headers: str | None = None
    nccl_library: str | None = None
    settings: Settings | None = None
    reduced: int | None = None
    devices: list[Device] = field(default_factory=list)
    ranks_of_a_device_line: int = 1
    measured: list[Measured] = field(default_factory=list)
    timed: bool = True
    average: float | None = None
    minimum_met: bool | None = None
    out_of_bounds: int | None = None
    started: bool = False
    concluded: bool = False
    has_table: bool = False
    damaged: int = 0
    faults: list[str] = field(default_factory=list)
    failures: list[Unread] = field(default_factory=list)
    environment: dict[str, str] = field(default_factory=dict)

    def failed(self, line: int, text: str) -> None:
        """Store a line in which the program reports a failure."""
        if len(self.failures) < FAILURES_KEPT:
            self.failures.append(Unread(line=line, text=text))

    def _ranks(self) -> tuple[int | None, int | None, int]:
        """Return ranks in all, ranks of the first rank's communicator, and groups."""
        if not self.devices:
            return None, None, 1
        times = self.ranks_of_a_device_line
        total = len(self.devices) * times if times > 1 else max(device.rank for device in self.devices) + 1
        groups = {device.group for device in self.devices}
        if len(groups) == 1:
            return total, total, 1
        first = min(self.devices, key=lambda device: device.rank).group
        return total, sum(device.group == first for device in self.devices) * times, len(groups)

    def reading(self, common: Common) -> NcclTests:
        """Return what the run amounts to."""
        total, ranks, groups = self._ranks()
        primitive = PRIMITIVES.get(self.test or "")
        factor: float | None = None
        if ranks and primitive:
            factor = checks.factor_of(primitive, self.measured, ranks)
        elif ranks and self.test is None:
            primitive, factor = checks.inferred(self.measured, ranks, timed=self.timed)
        rows, contradictions = [], []
        for measured in self.measured:
            why = checks.contradiction(measured, ranks=ranks, primitive=primitive, factor=factor, timed=self.timed)
            if why is None:
                rows.append(measured.row)
            else:
                contradictions.append(Contradiction(row=measured.row, why=why))
        missing: list[int] = []
        if self.settings is not None:
            largest = self.settings.max_bytes if self.reduced is None else self.reduced
            missing = checks.missing(self.settings, largest, rows, primitive, ranks)
        mean = checks.mean_busbw(rows)
        agrees: bool | None = None
        if self.average is not None and mean is not None and not (missing or contradictions or self.damaged):
            agrees = abs(self.average - mean) <= MEAN_PRECISION + 5e-6 * abs(mean)
        faults = self._faults(len(rows), missing, len(contradictions), agrees=agrees)
        return NcclTests(
            tool_version=self.version,
            **ending(*faults),
            test=self.test or (primitive.name if primitive else None),
            test_from=self.test_from or ("inferred" if primitive else None),
            bus_factor=factor,
            nccl_headers=self.nccl_headers,
            nccl_library=self.nccl_library,
            settings=self.settings,
            reduced_max_bytes=self.reduced,
            ranks=total,
            group_ranks=ranks,
            groups=groups,
            hosts=tuple(dict.fromkeys(device.host for device in sorted(self.devices, key=lambda device: device.rank))),
            devices=tuple(self.devices),
            rows=tuple(rows),
            missing_bytes=tuple(missing),
            contradictions=tuple(contradictions),
            average_busbw_gb_s=self.average,
            average_recomputed_gb_s=mean,
            average_agrees=agrees,
            minimum_met=self.minimum_met,
            out_of_bounds=self.out_of_bounds,
            failures=tuple(self.failures),
            environment=self.environment,
            **common,
        )

    def _faults(self, rows: int, missing: list[int], contradictions: int, *, agrees: bool | None) -> list[str]:
        faults = list(self.faults)
        if self.failures:
            faults.append(f"the program failed: {self.failures[0].text.strip()}")
        distinct = {device.rank for device in self.devices}
        if not self.devices:
            faults.append("no list of devices")
        elif self.ranks_of_a_device_line == 1 and len(distinct) <= max(distinct):
            faults.append(plural(max(distinct) + 1 - len(distinct), "rank is not listed", "ranks are not listed"))
        if not self.has_table:
            faults.append("no table")
        elif not rows:
            faults.append("no rows")
        if missing:
            named = ", ".join(str(size) for size in missing[:NAMED])
            more = f" and {len(missing) - NAMED} more" if len(missing) > NAMED else ""
            faults.append(f"sizes are missing: {named}{more} B")
        if self.damaged:
            faults.append(f"{self.damaged} damaged lines")
        if contradictions:
            faults.append(plural(contradictions, "row contradicts itself", "rows contradict themselves"))
        if self.out_of_bounds is None and self.average is None:
            faults.append("no footer")
        elif self.out_of_bounds is None or self.average is None or (self.started and not self.concluded):
            faults.append("footer is cut")
        if agrees is False:
            faults.append("printed average is not that of the rows")
        return faults
