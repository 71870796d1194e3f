"""What is wrong with what a job does about the loss of a rank, a pod or a node."""

from collections.abc import Iterator

from components.jobs.resilience import overridden
from components.operators.kueue_operator import READY_TIMES_SINCE
from core.wording import plural
from stacks.releases import either
from stacks.resolved.jobs import ProgramJob
from stacks.resolved.resilience import restarts
from stacks.resolved.versions import numbers, version_of
from stacks.settings.platform import Settings
from stacks.settings.workloads import MpiWorkload, SpanningWorkload

_ALL = "TrainJobs restart all (kind torch on a platform with `trainer`)"


def problems(settings: Settings) -> Iterator[str]:
    """Yield times of Kueue that the operator's version does not pass on."""
    queues = settings.queues
    if queues is None or queues.pods_ready is None:
        return
    version, since = version_of(queues.operator), ".".join(map(str, READY_TIMES_SINCE))
    if version and numbers(version) < READY_TIMES_SINCE:
        yield (
            f"queues.pods_ready: version {version} of queues.operator.channel {queues.operator.channel} passes no "
            f"times to Kueue; use a channel of {since} or later, or leave it out"
        )
    elif queues.operator.installed:
        yield "queues.pods_ready: queues.operator is installed by others, who configure Kueue; leave it out"


def of_job(job: ProgramJob, settings: Settings) -> Iterator[str]:
    """Yield what a job's kind cannot do, with the kind that can, and spare nodes that are missing or of no use."""
    own = job.resilience
    possible = restarts(job.workload, job.layout, trainer=settings.trainer is not None)
    if own.restart not in possible:
        yield f"resilience.restart {own.restart}: {_why_not(job, settings)}; use {either(possible)}, or leave it out"
        return
    if own.limit and not job.program.trains:
        yield (
            f"resilience.limit {own.limit}: program {job.workload.program} has trains: false, and a verification that "
            "is repeated hides what it found; leave it out"
        )
    chosen = overridden(job.program.resilience, job.workload.resilience).count_disruptions
    if chosen is False and own.restart == "ranks":
        yield (
            "resilience.count_disruptions false: a restart of ranks cannot see why they failed; leave it out. Jobs of "
            f"one pod can leave disruptions out, and {_ALL}"
        )
    elif chosen is False and not settings.version.indexed_jobs:
        yield (
            f"resilience.count_disruptions false: OpenShift {settings.release} has no podFailurePolicy (Kubernetes "
            "1.26); leave it out"
        )
    yield from _spares(job, settings)


def _why_not(job: ProgramJob, settings: Settings) -> str:
    if isinstance(job.workload, MpiWorkload):
        return f"an MPIJob restarts ranks alone, by a new launcher on the workers that are there; {_ALL}"
    if not isinstance(job.workload, SpanningWorkload):
        return f"pods of kind {job.workload.kind} are replaced one by one; {_ALL}"
    if settings.trainer is not None:
        return "the pods of a TrainJob cannot go on with a new one among them"
    if job.layout.pods == 1:
        return f"a Job of one pod has no other pods; {_ALL}"
    return f"the pods of a Job cannot go on with a new one among them; {_ALL}"


def _spares(job: ProgramJob, settings: Settings) -> Iterator[str]:
    if not job.spare_nodes:
        return
    if settings.queues is None or settings.queues.topology is None:
        yield (
            f"resilience.spare_nodes {job.spare_nodes}: Kueue replaces nodes only with `queues.topology`; give it, or "
            "leave this out"
        )
        return
    if job.resilience.restart == "ranks" or not job.resilience.limit:
        yield (
            f"resilience.spare_nodes {job.spare_nodes}: the job replaces no pods (restart {job.resilience.restart}, "
            f"limit {job.resilience.limit}), so it never uses one; leave it out, or give a limit, where {_ALL}, and "
            "jobs of one pod theirs"
        )
        return
    per_node = job.free and max(job.free.values()) // job.layout.gpus
    if not per_node:
        return
    needed = -(-job.layout.pods // per_node) + job.spare_nodes
    places = [*job.domains] or [job.free]
    most = max(sum(gpus >= job.layout.gpus for gpus in domain.values()) for domain in places)
    if most < needed:
        where = "its required domain" if job.domains else f"pool {job.pool.name}"
        yield (
            f"resilience.spare_nodes {job.spare_nodes}: layout {job.layout} and they take {plural(needed, 'node')}, "
            f"and {where} has {most} with {plural(job.layout.gpus, 'free GPU')}; lower it, or give less of the layout"
        )
