"""Reads what the test of a node prints: `preflight <what> key=value ...`, a line for each thing."""

import re

from pydantic import Field

from core.wording import plural
from toolkit.evidence.model import Reading, Record
from toolkit.evidence.parser import Common, Parser, Taken, ending
from toolkit.evidence.text import Line

NOT_REPORTED = "none"
"""What the test prints where nvidia-smi reports nothing."""
_LINE = re.compile(
    r"preflight (?P<what>begins|host|gpu|load|memory|link|hca|gpudirect|failed|ends)(?P<of>(?: [\w-]+){0,2})"
    r"(?P<figures>(?: [a-z]\w*=\S*)+)"
)

_NAMES = {"gpu": (1,), "load": (1,), "memory": (1,), "hca": (1,), "link": (2,), "gpudirect": (2,), "failed": (1, 2)}
"""Names behind the first word: of a GPU, of both GPUs of a link, of an HCA, of HCA and GPU."""
_FIGURE = re.compile(r"\d{1,12}(?:\.\d{1,6})?", re.ASCII)


class Tested(Record):
    """One line: what was tested, and what was found."""

    what: str = Field(description="begins, host, gpu, load, memory, link, hca, gpudirect, failed or ends")
    of: tuple[str, ...] = Field(description="GPU, both GPUs of a link, HCA, or HCA and GPU")
    found: dict[str, str] = Field(description="as printed; `none`: the driver does not report it")

    def number(self, name: str) -> float | None:
        """Return a figure; None: not reported."""
        text = self.found.get(name, NOT_REPORTED)
        return float(text) if _FIGURE.fullmatch(text) else None

    @property
    def links(self) -> int | None:
        """Return the active NVLinks of a GPU; None: not reported."""
        count = self.found.get("nvlinks", NOT_REPORTED).partition("x")[0]
        return int(count) if _FIGURE.fullmatch(count) and "." not in count else None

    @property
    def name(self) -> str:
        """What it is called in verdicts, e.g. `GPU 1`."""
        if self.what in ("gpu", "load", "memory"):
            return f"GPU {self.of[0]}"
        if self.what == "gpudirect":
            return f"{self.of[0]} to GPU {self.of[1]}"
        return f"GPU {self.of[0]} to {self.of[1]}" if self.what == "link" else " ".join(self.of)


class Preflight(Reading):
    """The test of one node."""

    node: str = Field(description="name of the host, or of the pod")
    gpus: int = Field(description="that it saw")
    rows: tuple[Tested, ...]

    def of_kind(self, what: str) -> list[Tested]:
        """Return the lines of one kind."""
        return [row for row in self.rows if row.what == what]

    def _figures(self) -> str:
        rates = [rate for row in self.of_kind("load") if (rate := row.number("tflops")) is not None]
        return f"{self.node}: {plural(self.gpus, 'GPU')}" + (f", {min(rates):g} TFLOP/s the slowest" if rates else "")


class PreflightParser(Parser):
    """Reads the test of one node."""

    tool = "preflight"
    kind = Preflight
    starts = r"preflight begins node="
    by_source = True

    def __init__(self) -> None:
        self._rows: list[Tested] = []

    def feed(self, line: Line) -> Taken:
        """Read a line."""
        if not line.text.startswith("preflight "):
            return Taken.NO
        match = _LINE.fullmatch(line.text)
        if match is None or len(match["of"].split()) not in _NAMES.get(match["what"], (0,)):
            return Taken.DAMAGED
        if match["what"] == "begins" and self._rows:
            return Taken.AGAIN
        figures = dict(word.split("=", 1) for word in match["figures"].split())
        self._rows.append(Tested(what=match["what"], of=tuple(match["of"].split()), found=figures, line=line.number))
        return Taken.YES

    def reading(self, common: Common) -> Preflight:
        """Return what the test found."""
        begins = self._rows[0]
        failed = [f"{' '.join(row.of)}: {row.found.get('why', '')}" for row in self._rows if row.what == "failed"]
        ends = self._rows[-1].what == "ends"
        return Preflight(
            **ending(*failed, None if ends else "the test did not end"),
            node=begins.found.get("node", ""),
            gpus=int(begins.number("gpus") or 0),
            rows=tuple(self._rows),
            **common,
        )
