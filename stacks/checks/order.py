"""What is wrong with the order of workloads: jobs that wait for GPUs that earlier ones still hold."""

from collections.abc import Iterator

from core.hardware.placement import fits
from stacks.resolved import placements
from stacks.resolved.jobs import Job
from stacks.settings.platform import Settings


def problems(settings: Settings) -> Iterator[str]:
    """Yield the workloads that come after others which an update only sees start, and need the GPUs of these."""
    for stage, wave, running in placements.running(settings):
        # A wave starts as a whole: what each has room for alone, they may not have together.
        if not running or _fit_together([*wave, *running], settings):
            continue
        for count, job in enumerate(wave, start=1):
            if not _fit_together([*wave[:count], *running], settings):
                yield _message(job, stage, running)
                return


def _fit_together(jobs: list[Job], settings: Settings) -> bool:
    pods = [pod for job in jobs for pod in job.demands]
    return fits(pods, placements.room(settings)) and placements.within_quotas(jobs, settings)


def _message(job: Job, stage: str, running: list[Job]) -> str:
    others = ", ".join(other.id for other in running)
    return (
        f"stages: job {job.id} of stage {stage} needs GPUs that {others} may hold, which the update "
        "sees start and no more; give these `wait: finished`, or lower layouts so that all have room"
    )
