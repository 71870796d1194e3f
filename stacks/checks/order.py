"""What is wrong with the order of workloads: who waits for GPUs that are not given back."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from components.outcome import Wait
from hardware.placement import fits
from stacks import layouts
from stacks.workload_settings import Workload

if TYPE_CHECKING:
    from stacks.platform import Settings


def problems(settings: "Settings") -> Iterator[str]:
    """Yield the workloads that come after others which an update only sees start, and need the GPUs of these."""
    held: list[Workload] = []
    for stage in settings.stages:
        for wave in layouts.plan(stage, settings):
            for workload in wave:
                if held and not _together([workload, *held], settings):
                    yield _message(workload, stage.name, held, settings)
                    return
            held += [workload for workload in wave if workload.follow is Wait.STARTED]


def _together(workloads: list[Workload], settings: "Settings") -> bool:
    pods = [pod for workload in workloads for pod in layouts.demands(workload, settings)]
    return fits(pods, layouts.room(settings)) and layouts.within_quotas(workloads, settings)


def _message(workload: Workload, stage: str, held: list[Workload], settings: "Settings") -> str:
    others = ", ".join(_name(each, settings) for each in held)
    return (
        f"stages: job {_name(workload, settings)} of stage {stage} needs GPUs that {others} may hold, which the update "
        "sees start and no more; give these `wait: finished`, or lower layouts so that all have room"
    )


def _name(workload: Workload, settings: "Settings") -> str:
    return f"{workload.tenant}/{layouts.job_name(workload, settings)}"
