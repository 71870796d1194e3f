"""The few figures that a job is known by."""

from collections.abc import Mapping

from toolkit.evidence.criterion import readings_of
from toolkit.evidence.metrics import Metrics
from toolkit.evidence.records import Run
from toolkit.evidence.report.bars import result
from toolkit.evidence.report.links import links
from toolkit.evidence.report.run_summary import by_job
from toolkit.evidence.report.sweeps import sweeps
from toolkit.evidence.verdict import Job
from toolkit.evidence.wording import figure, size


def headline(job: Job) -> str:
    """Return the ends of its tables, what its links carried, its metrics, and its rate or run time, as far as known."""
    figures = []
    for sweep in sweeps([job]):
        if sweep.out_of_place:
            first, last = sweep.out_of_place[0], sweep.out_of_place[-1]
            figures.append(
                f"{sweep.test} {figure(first.time_us)} µs at {size(first.bytes)}, "
                f"{figure(last.busbw_gb_s)} GB/s at {size(last.bytes)}"
            )
    figures += [f"{link.named} {figure(link.mb_s)} MB/s" for link in links([job])]
    figures += [text for metrics in readings_of(job, Metrics) if (text := metrics.figures())]
    training_result = result(job)
    if training_result is not None:
        figures.append(f"{figure(training_result[0])} {training_result[1]}")
    return "; ".join(figures)


def figures_by_job(run: Run) -> Mapping[str, str]:
    """Return the same of each job of a run, and what was found between jobs, which have no readings of their own."""
    headlines = {job.request.job: headline(job) for job in run.jobs}
    comparisons = {job: verdicts[0].measured for job, verdicts in by_job(run).items() if len(verdicts) == 1}
    return {**comparisons, **{job: figures for job, figures in headlines.items() if figures}}
