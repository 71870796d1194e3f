"""The CUDA sample vectorAdd: the smallest program that shows that a pod has a GPU that computes."""

import re

from pydantic import Field

from toolkit.evidence.criterion import Criterion, Outcome, line_proofs, proofs_at, readings_of
from toolkit.evidence.model import Reading, Unread
from toolkit.evidence.parser import Common, Parser, Taken, ending
from toolkit.evidence.text import Line
from toolkit.evidence.verdict import Job, Status

_BEGIN = re.compile(r"\[Vector addition of ([0-9]{1,12}) elements\]", re.ASCII)
_LAUNCH = re.compile(r"CUDA kernel launch with ([0-9]{1,12}) blocks of ([0-9]{1,9}) threads", re.ASCII)
_QUIET = frozenset(
    {
        "Copy input data from the host memory to the CUDA device",
        "Copy output data from the CUDA device to the host memory",
    }
)
_FAILED = re.compile(r"(?:Failed to |Result verification failed )\S")
_PASSED = "Test PASSED"


class CudaVectorAdd(Reading):
    """A run of the sample, from NVIDIA's image or from Kubernetes'."""

    elements: int | None = Field(default=None, description="numbers that are added")
    blocks: int | None = Field(default=None, description="of the kernel's grid; None: it was not launched")
    threads: int | None = Field(default=None, description="of a block")
    passed: bool = Field(default=False, description="whether `Test PASSED` is there, before `Done`")
    passed_line: int | None = Field(default=None, description="line of `Test PASSED`")
    failure: Unread | None = Field(default=None, description="the first line that reports an error")

    def _figures(self) -> str:
        if self.passed:
            return "Test PASSED"
        return self.failure.text if self.failure is not None else "no result"


class CudaVectorAddParser(Parser):
    """Reads one run, from `[Vector addition of` to `Done`."""

    tool = "cuda-vector-add"
    kind = CudaVectorAdd
    starts = r"\[Vector addition of "
    by_source = True

    def __init__(self) -> None:
        self._elements: int | None = None
        self._launch: tuple[int, int] | None = None
        self._passed_line: int | None = None
        self._done = False
        self._failure: Unread | None = None

    def feed(self, line: Line) -> Taken:
        """Read a line of the sample."""
        text = line.text
        if (match := _BEGIN.fullmatch(text)) is not None:
            if self._elements is not None:
                return Taken.AGAIN
            self._elements = int(match[1])
        elif (match := _LAUNCH.fullmatch(text)) is not None:
            self._launch = int(match[1]), int(match[2])
        elif text == _PASSED:
            self._passed_line = line.number
        elif text == "Done" and not self._done:
            self._done = True
        elif _FAILED.match(text):
            self._failure = self._failure or Unread(line=line.number, text=text)
        elif text not in _QUIET:
            return Taken.DAMAGED if text.startswith(("[Vector add", "CUDA kernel launch", "Test PASS")) else Taken.NO
        return Taken.YES

    def reading(self, common: Common) -> CudaVectorAdd:
        """Return whether the test passed."""
        passed = self._passed_line is not None and self._done and self._failure is None
        missing = None
        if self._failure is None and not self._done:
            missing = "no `Done`" if self._passed_line is not None else "no `Test PASSED`"
        blocks, threads = self._launch or (None, None)
        return CudaVectorAdd(
            **ending(missing),
            elements=self._elements,
            blocks=blocks,
            threads=threads,
            passed=passed,
            passed_line=self._passed_line,
            failure=self._failure,
            **common,
        )


def _vector_add(job: Job) -> Outcome | None:
    samples = readings_of(job, CudaVectorAdd)
    failures = [(sample.file, sample.failure) for sample in samples if sample.failure is not None]
    if failures:
        return Outcome(Status.FAIL, "failed", proofs=line_proofs(failures))
    all_passed = all(sample.passed for sample in samples)
    proofs = tuple(proof for sample in samples for proof in proofs_at(sample.file, sample.passed_line))
    if not all_passed:
        return Outcome(Status.MISSING, "no `Test PASSED`", proofs=proofs)
    return Outcome(Status.PASS, "Test PASSED", proofs=proofs)


CRITERIA = (
    Criterion(
        name="vector-add",
        title="A GPU runs a CUDA kernel",
        limit="Test PASSED",
        applies="runs of the vectorAdd sample",
        source="S-7.7, S-6.5",
        judge=_vector_add,
    ),
)
