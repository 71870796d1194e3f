"""What is wrong between the programs of a stack, those of the files, and the workloads that name them."""

from collections.abc import Iterator
from difflib import get_close_matches

from stacks.programs import PROGRAMS
from stacks.settings.platform import Settings
from stacks.settings.workloads import Unstarted


def problems(settings: Settings) -> Iterator[str]:
    """Yield every program that is there twice, or that a workload names and nothing defines."""
    for name in settings.programs:
        if name in PROGRAMS:
            yield f"programs: {name} is a program of stacks/programs, too; give this one another name"
    for stage in settings.stages:
        for workload in stage.workloads:
            if isinstance(workload, Unstarted):
                continue
            if problem := unknown(workload.program, settings):
                yield f"stages: job {workload.name}: program {workload.program!r} {problem}"


def unknown(name: str, settings: Settings) -> str | None:
    """Return why no workload can name a program, with the remedy; None where it is defined."""
    programs = sorted({*PROGRAMS, *settings.programs})
    if name in programs:
        return None
    close = get_close_matches(name, programs, n=1)
    meant = f"did you mean {close[0]}?" if close else f"known: {', '.join(programs)}"
    return f"is not defined; define it in `programs`, or use another: {meant}"
