"""What is wrong with the order of workloads: jobs that wait for GPUs that earlier ones still hold."""

from collections.abc import Iterator

from hardware.placement import fits
from stacks import layouts
from stacks.platform import Settings
from stacks.workload_settings import Workload


def problems(settings: Settings) -> Iterator[str]:
    """Yield the workloads that come after others which an update only sees start, and need the GPUs of these."""
    for stage, wave, held in layouts.running(settings):
        # A wave starts as a whole: what each has room for alone, they may not have together.
        if not held or _together([*wave, *held], settings):
            continue
        for count, workload in enumerate(wave, start=1):
            if not _together([*wave[:count], *held], settings):
                yield _message(workload, stage, held, settings)
                return


def _together(workloads: list[Workload], settings: Settings) -> bool:
    pods = [pod for workload in workloads for pod in layouts.demands(workload, settings)]
    return fits(pods, layouts.room(settings)) and layouts.within_quotas(workloads, settings)


def _message(workload: Workload, stage: str, held: list[Workload], settings: Settings) -> str:
    others = ", ".join(_name(each, settings) for each in held)
    return (
        f"stages: job {_name(workload, settings)} of stage {stage} needs GPUs that {others} may hold, which the update "
        "sees start and no more; give these `wait: finished`, or lower layouts so that all have room"
    )


def _name(workload: Workload, settings: Settings) -> str:
    return f"{workload.tenant}/{layouts.job_name(workload, settings)}"
