"""tf_cnn_benchmarks of TensorFlow, alone or with Horovod: every rank prints its own rate, and the total."""

import math
import re
from collections import Counter
from collections.abc import Sequence
from statistics import median

from pydantic import Field

from core.wording import plural
from toolkit.evidence.criterion import Criterion, Outcome, passed, readings_of, row_proofs
from toolkit.evidence.model import Reading, Record
from toolkit.evidence.parser import Common, Parser, Taken, ending, number
from toolkit.evidence.text import Line
from toolkit.evidence.verdict import Job

STEPS_KEPT = 20_000
"""Lines of steps that are stored; all are counted, and those of the last step are always stored."""

# Formats of the program: %.1f, %.3f of the loss, %.2f of the total. A figure with other decimals has been cut.
_RATE = r"[0-9]{1,12}[.,][0-9]"
_STEP = re.compile(
    rf"(?P<step>[0-9]{{1,12}})\s+images/sec: (?P<rate>{_RATE}) \+/- (?P<spread>{_RATE}) "
    rf"\(jitter = (?P<jitter>{_RATE})\)"
    r"\s+(?P<loss>-?(?:[0-9]{1,12}[.,][0-9]{3}|nan|inf))(?:\s+[0-9][.,][0-9]{3}){0,2}",
    re.ASCII,
)
_TOTAL = re.compile(r"total images/sec: ([0-9]{1,12}[.,][0-9]{2})", re.ASCII)
_BATCH = re.compile(r"([0-9]{1,12})(?:\.0)? (global|per device)", re.ASCII)
_HEADER = re.compile(
    r"(TensorFlow|Model|Dataset|Mode|SingleSess|Batch size|Num batches|Num epochs|Devices|NUMA bind|Data format|"
    r"Layout optimizer|Optimizer|Variables|AllReduce|Sync|Staged vars|Horovod on|RewriterConfig):\s+(\S.*)"
)
_QUIET = re.compile(
    r"={10}|-{64}|Generating (?:training )?model|Initializing graph|Running warm up|Running local_init_op\.|"
    r"Waiting for other replicas to finish warm up|(?:Starting|Finishing) real work at step .*"
)
_WARM = "Done warm up"
_COLUMNS = re.compile(r"Step\s+Img/sec(?:\s|$)")
_FORMS = (_HEADER, _BATCH, _QUIET, _COLUMNS)
_COUNTED = re.compile(r"[0-9]{1,12}\timages/sec: ", re.ASCII)
_NUMBER = rb"([0-9]{1,12})\timages/sec: "
_BEFORE_NUMBER = re.compile(rb"([\n:> ])" + _NUMBER)
"""The step of a line, behind any prefix that ends so."""


class Step(Record):
    """One line of one rank: means over all steps up to this one."""

    rank: str = Field(description="rank or pod that printed it; empty: the log has no prefixes")
    step: int = Field(description="steps since the warm-up")
    images_per_s: float = Field(description="images/s of this rank, mean since the warm-up")
    uncertainty_images_per_s: float = Field(description="standard error of that mean, +/- in the log")
    jitter_images_per_s: float = Field(description="median deviation of the steps, scaled to a standard deviation")
    loss: float | None = Field(description="total loss; None: printed as nan or inf")


class Total(Record):
    """`total images/sec` of one rank, which means the whole job."""

    rank: str = Field(description="rank or pod that printed it; empty: the log has no prefixes")
    images_per_s: float = Field(description="images/s of all ranks together")


class TfCnnBenchmarks(Reading):
    """A run of tf_cnn_benchmarks, all its ranks together."""

    tensorflow: str | None = Field(default=None, description="version, e.g. 2.1; None: not printed")
    model: str | None = Field(default=None, description="network, e.g. resnet50; None: not printed")
    dataset: str | None = Field(default=None, description="e.g. imagenet (synthetic)")
    mode: str | None = Field(default=None, description="e.g. BenchmarkMode.TRAIN")
    batch_size: int | None = Field(default=None, description="images per device and step")
    global_batch_size: int | None = Field(default=None, description="images of all devices and workers per step")
    variable_update: str | None = Field(default=None, description="e.g. horovod, replicated, parameter_server")
    ranks: int | None = Field(default=None, description="processes that printed rates; None: none did")
    steps: tuple[Step, ...] = Field(default=(), description=f"first {STEPS_KEPT}, and those of the last step")
    steps_total: int = Field(default=0, description="lines of steps, stored or not")
    totals: tuple[Total, ...] = Field(default=(), description="one of each rank that came to its end")
    total_images_per_s: float | None = Field(default=None, description="median of the totals, images/s of the job")
    sum_images_per_s: float | None = Field(
        default=None, description="sum of the ranks' rates at the last step; None: not of every rank"
    )
    total_deviation: float | None = Field(
        default=None, description="|total - sum| / total; more than 0.02 means that the log was edited or mixed"
    )

    def _figures(self) -> str:
        total = self.total_images_per_s
        return f"{total:,.2f} images/s" if total is not None else plural(self.steps_total, "step")


class TfCnnParser(Parser):
    """Reads one run; a run begins with its header, or where there is none with `Done warm up`."""

    tool = "tf-cnn-benchmarks"
    kind = TfCnnBenchmarks
    starts = r"TensorFlow:  \S|Model:  +\S|Done warm up$|Step\s+Img/sec\s"
    hosts_nccl = True

    def __init__(self) -> None:
        self._header: dict[str, str] = {}
        self._batch: dict[str, int] = {}
        self._steps: list[Step] = []
        self._last: list[Step] = []
        self._counted: Counter[int] = Counter()
        self._steps_total = self._warm = 0
        self._totals: list[Total] = []

    def feed(self, line: Line) -> Taken:
        """Read a line of a header, a step or a total."""
        text = line.text
        if "images/sec" in text:
            return self._rate(line)
        header = _HEADER.fullmatch(text)
        if header is not None or text == _WARM:
            # Ranks print their totals after each other, so another rank's header may still follow them.
            if any(total.rank == line.source for total in self._totals):
                return Taken.AGAIN
            self._warm += text == _WARM
            if header is not None:
                self._field(header[1], header[2])
            return Taken.YES
        if (batch := _BATCH.fullmatch(text.strip())) is not None and "Batch size" in self._header:
            self._batch.setdefault(batch[2], int(batch[1]))
            return Taken.YES
        return Taken.YES if _COLUMNS.match(text) or _QUIET.fullmatch(text) else Taken.NO

    def ignores(self, text: str) -> bool:
        """Return whether a line has no form of the program's."""
        return "images/sec" not in text and text != _WARM and not any(form.match(text.strip()) for form in _FORMS)

    def counts(self, text: str) -> bool:
        """Return whether a line is a step's, and no more of them are stored but those of the last step."""
        return len(self._steps) >= STEPS_KEPT and _COUNTED.match(text) is not None and _STEP.fullmatch(text) is not None

    def pass_over(self, lines: Sequence[bytes]) -> Sequence[int]:
        """Count lines of steps; those of the last step are fed."""
        before = _BEFORE_NUMBER.search(b"\n" + lines[0])
        # A search for one byte is four times as fast as for several.
        texts = re.findall(re.escape(before[1]) + _NUMBER, b"\n" + b"\n".join(lines)) if before else []
        if len(texts) != len(lines):
            return range(len(lines))
        steps = list(map(int, texts))
        latest = max(steps)
        if self._last and latest < self._last[0].step:
            read = []
        else:
            read = [index for index, step in enumerate(steps) if step == latest]
        self._steps_total += len(lines) - len(read)
        return read

    def _field(self, name: str, value: str) -> None:
        self._header.setdefault(name, value.strip())
        if name == "Batch size" and (batch := _BATCH.fullmatch(value.strip())) is not None:
            self._batch.setdefault(batch[2], int(batch[1]))

    def _rate(self, line: Line) -> Taken:
        if (total := _TOTAL.fullmatch(line.text)) is not None:
            self._totals.append(Total(line=line.number, rank=line.source, images_per_s=number(total[1])))
            return Taken.YES
        match = _STEP.fullmatch(line.text)
        if match is None:
            return Taken.DAMAGED
        loss = number(match["loss"])
        step = Step(
            line=line.number,
            rank=line.source,
            step=int(match["step"]),
            images_per_s=number(match["rate"]),
            uncertainty_images_per_s=number(match["spread"]),
            jitter_images_per_s=number(match["jitter"]),
            loss=loss if math.isfinite(loss) else None,
        )
        self._keep(step)
        return Taken.YES

    def _keep(self, step: Step) -> None:
        self._steps_total += 1
        if len(self._steps) < STEPS_KEPT:
            self._steps.append(step)
            self._counted[step.step] += 1
        latest = self._last[0].step if self._last else -1
        if step.step > latest:
            self._last = [step]
        elif step.step == latest and len(self._last) < STEPS_KEPT:
            self._last.append(step)

    def reading(self, common: Common) -> TfCnnBenchmarks:
        """Return the figures of all ranks."""
        ranks = max([self._warm, len(self._last), *self._counted.values()])
        totals = [total.images_per_s for total in self._totals]
        total = median(totals) if totals else None
        whole = bool(self._last) and len(self._last) == ranks
        summed = math.fsum(step.images_per_s for step in self._last) if whole else None
        missing = None
        if not totals:
            missing = "no `total images/sec`"
        elif len(totals) < ranks:
            missing = f"`total images/sec` of {len(totals)} of {plural(ranks, 'rank')}"
        kept = {step.line for step in self._steps}
        return TfCnnBenchmarks(
            **ending(missing),
            tensorflow=self._header.get("TensorFlow"),
            model=self._header.get("Model"),
            dataset=self._header.get("Dataset"),
            mode=self._header.get("Mode"),
            variable_update=self._header.get("Variables"),
            batch_size=self._batch.get("per device"),
            global_batch_size=self._batch.get("global"),
            ranks=ranks or None,
            steps=(*self._steps, *(step for step in self._last if step.line not in kept)),
            steps_total=self._steps_total,
            totals=tuple(self._totals),
            total_images_per_s=total,
            sum_images_per_s=summed,
            total_deviation=abs(total - summed) / total if total and summed is not None else None,
            **common,
        )


_KEPT = 5


def _finite(job: Job) -> Outcome | None:
    runs = [run for run in readings_of(job, TfCnnBenchmarks) if run.steps]
    lost = [(run.file, step) for run in runs for step in run.steps if step.loss is None]
    count = sum(len(run.steps) for run in runs)
    if not runs:
        return None
    what = f"nan or inf in {len(lost)}" if lost else "a figure in each"
    return Outcome(passed(not lost), f"{what} of {plural(count, 'line')}", proofs=row_proofs(lost[:_KEPT]))


CRITERIA = (
    Criterion(
        name="loss-finite",
        title="The training loss stays finite",
        limit="no loss that is nan or inf",
        unit="lines",
        applies="runs of tf_cnn_benchmarks",
        source="R-4.5-9, N-8.3",
        judge=_finite,
        missed=False,
    ),
)
