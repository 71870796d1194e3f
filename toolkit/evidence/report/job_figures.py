"""The few figures that a job is known by."""

from collections.abc import Mapping

from toolkit.evidence.criterion import of
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
    for one in sweeps([job]):
        if one.out_of_place:
            first, last = one.out_of_place[0], one.out_of_place[-1]
            figures.append(
                f"{one.test} {figure(first.time_us)} µs at {size(first.bytes)}, "
                f"{figure(last.busbw_gb_s)} GB/s at {size(last.bytes)}"
            )
    figures += [f"{one.named} {figure(one.mb_s)} MB/s" for one in links([job])]
    figures += [text for one in of(job, Metrics) if (text := one.figures())]
    found = result(job)
    if found is not None:
        figures.append(f"{figure(found[0])} {found[1]}")
    return "; ".join(figures)


def figures_by_job(run: Run) -> Mapping[str, str]:
    """Return the same of each job of a run, and what was found between jobs, which have no readings of their own."""
    found = {job.request.job: headline(job) for job in run.jobs}
    between = {job: verdicts[0].measured for job, verdicts in by_job(run).items() if len(verdicts) == 1}
    return {**between, **{job: figures for job, figures in found.items() if figures}}
