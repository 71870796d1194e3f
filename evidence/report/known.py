"""The few figures that a job is known by."""

from collections.abc import Mapping

from evidence.records import Run
from evidence.report.bars import result
from evidence.report.facts import by_job
from evidence.report.links import links
from evidence.report.series import sweeps
from evidence.report.words import figure, size
from evidence.verdict import Job


def known(job: Job) -> str:
    """Return the ends of its tables, what its links carried, and its rate or run time; empty: none of these."""
    told = []
    for one in sweeps([job]):
        if one.out_of_place:
            first, last = one.out_of_place[0], one.out_of_place[-1]
            told.append(
                f"{one.test} {figure(first.time_us)} µs at {size(first.bytes)}, "
                f"{figure(last.busbw_gb_s)} GB/s at {size(last.bytes)}"
            )
    told += [f"{one.named} {figure(one.mb_s)} MB/s" for one in links([job])]
    found = result(job)
    if found is not None:
        told.append(f"{figure(found[0])} {found[1]}")
    return "; ".join(told)


def figures_by_job(run: Run) -> Mapping[str, str]:
    """Return the same of each job of a run, and what was found between jobs, which have no readings of their own."""
    found = {job.asked.job: known(job) for job in run.jobs}
    between = {job: verdicts[0].measured for job, verdicts in by_job(run).items() if len(verdicts) == 1}
    return {**between, **{job: told for job, told in found.items() if told}}
