"""What a user wants to run, as a stage of the stack's settings: a pure function of settings and options."""

from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter, ValidationError

from components.jobs.layout import numbers
from core import field_errors
from core.apis.nccl import Transport
from stacks.checks import consistency
from stacks.checks.program import unknown
from stacks.resolved import jobs
from stacks.resolved.jobs import Job
from stacks.settings.platform import Settings
from stacks.settings.resolved_pool import Pool
from stacks.settings.workloads import Stage, Workload
from toolkit.cli.shared.errors import Problem

_WORKLOADS: TypeAdapter[Workload] = TypeAdapter(Workload)


@dataclass(frozen=True)
class Request:
    """The options of the command."""

    program: str
    tenant: str
    gpus: int | None = None
    nodes: int | None = None
    layout: str | None = None
    pool: str | None = None
    kind: str | None = None
    name: str | None = None
    image: str | None = None
    build: str | None = None
    transport: Transport | None = None


def requested(request: Request, settings: Settings) -> tuple[Settings, Job]:
    """Return the settings with the request as their only workload, and its job.

    Raises Problem, which lists all that is wrong with it.
    """
    tenants = [tenant.namespace for tenant in settings.tenants]
    if request.tenant not in tenants:
        raise Problem(
            f"--tenant {request.tenant}: the stack has no such tenant", f"Known: {', '.join(sorted(tenants))}."
        )
    if problem := unknown(request.program, settings):
        raise Problem(f"program {request.program!r} {problem}")
    workload = _workload(request, settings)
    alone = settings.model_copy(update={"stages": (Stage(name="job", workloads=(workload,)),)})
    if problems := [problem.removeprefix("stages: ") for problem in consistency.problems(alone)]:
        raise Problem("\n".join(problems))
    job = jobs.resolve(workload, alone)
    _require_own_name(job, settings)
    return alone, job


def _workload(request: Request, settings: Settings) -> Workload:
    kind = _kind(request, settings)
    fields: dict[str, Any] = {
        "kind": kind,
        "tenant": request.tenant,
        "name": request.name or request.program,
        "program": request.program,
        "pool": request.pool,
        "image": request.image,
        "build": request.build,
    }
    if kind == "job":
        if request.nodes not in (None, 1) or request.layout is not None:
            option = f"--layout {request.layout}" if request.layout else f"--nodes {request.nodes}"
            raise Problem(
                f"{option}: program {request.program} runs in one pod (kind job)", "Leave it out, and give --gpus."
            )
        fields["gpus"] = request.gpus or 1
    else:
        fields |= {"transport": request.transport, **_size(request, settings)}
    try:
        return _WORKLOADS.validate_python(fields)
    except ValidationError as errors:
        raise Problem("\n".join(map(_message, errors.errors(include_url=False)))) from None


def _kind(request: Request, settings: Settings) -> str:
    # Those of kind indexed need a data set, which has to be staged before them: they are written into `stages`.
    kinds = [kind for kind in settings.program(request.program).kinds if kind != "indexed"]
    if not kinds:
        raise Problem(
            f"program {request.program} reads slices of a data set (kind indexed)",
            "Write it into the stages of the settings, after a workload of kind stage-data.",
        )
    if request.kind is None:
        return kinds[0]
    if request.kind not in kinds:
        raise Problem(
            f"--kind {request.kind}: program {request.program} is not started by it", f"Use {' or '.join(kinds)}."
        )
    return request.kind


def _size(request: Request, settings: Settings) -> dict[str, Any]:
    """Return `layout` or `gpus` of the workload; nodes alone are meant with all their GPUs."""
    if request.layout is not None:
        return {"layout": _layout(request.layout, request)}
    if request.nodes is None:
        if request.gpus is None:
            raise Problem("--gpus is missing", "Give the GPUs of the whole job, --nodes N, or --layout PODSxGPUS.")
        return {"gpus": request.gpus}
    if request.gpus is None:
        return {"layout": {"pods": request.nodes, "gpus": _pool(request, settings).machine.gpus}}
    gpus_per_node, over = divmod(request.gpus, request.nodes)
    if over:
        raise Problem(
            f"--nodes {request.nodes}: {request.gpus} GPUs cannot be the same number on each",
            f"Give --gpus {(gpus_per_node + 1) * request.nodes}, or --layout PODSxGPUS.",
        )
    return {"layout": {"pods": request.nodes, "gpus": gpus_per_node}}


def _pool(request: Request, settings: Settings) -> Pool:
    try:
        return jobs.pool_of(request.pool, settings.tenant(request.tenant), settings)
    except ValueError as error:
        raise Problem(f"--{error}") from None


def _layout(text: str, request: Request) -> dict[str, int]:
    try:
        sizes = numbers(text)
    except ValueError:
        raise Problem(
            f"--layout {text} is not PODSxGPUS",
            "Write pods and the GPUs of each, e.g. 2x8; `./hpc hardware fit --gpus N` lists those that fit.",
        ) from None
    pods, gpus = sizes["pods"], sizes["gpus"]
    for option, value, meant in (("--gpus", request.gpus, pods * gpus), ("--nodes", request.nodes, pods)):
        if value not in (None, meant):
            raise Problem(f"{option} {value}: --layout {text} has {meant} of them", f"Leave {option} out.")
    return {"pods": pods, "gpus": gpus}


def _require_own_name(job: Job, settings: Settings) -> None:
    """Raise Problem where the stack has a job of that name: an update would replace the user's."""
    if job.id in {own.id for own in jobs.every(settings)}:
        raise Problem(f"--name {job.workload.name}: job {job.id} is the stack's own", "Give another --name.")


def _message(error: Any) -> str:
    problem, remedy = field_errors.problem(error), field_errors.remedy(error)
    if error["type"] in field_errors.OWN:
        return problem
    _, option, *inside = map(str, error["loc"])
    return f"--{option}: {' '.join([*inside, problem])} (value: {error['input']!r}){remedy}"
