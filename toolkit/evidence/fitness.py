"""Which nodes are fit for jobs: by the test of each node, and by jobs over several of them. Pure."""

from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum

from pydantic import Field

from core.model import Model
from toolkit.evidence.bisection import Group, Narrowed, narrow
from toolkit.evidence.diagnosis.cause_table import CAUSES, HCAS, LATENCY, LINK, TRANSPORT
from toolkit.evidence.tools.preflight import PreflightParser
from toolkit.evidence.verdict import Job, Request, Status, Verdict
from toolkit.evidence.wording import listed

BETWEEN_NODES = TRANSPORT | LATENCY | LINK | HCAS | {"public-bus-bandwidth"}
"""Criteria that a bad node fails for all nodes of a job; others, such as the number of ranks, say nothing of nodes."""
PAIR = "between-nodes"
"""The reason of a node that its own test does not find, as a label has it."""


class Fitness(StrEnum):
    """Whether jobs should run on a node."""

    FIT = "fit"
    UNFIT = "unfit"
    SUSPECT = "suspect"
    """Its own test found nothing, and a job over several nodes failed: it is one of those that may be why."""
    UNKNOWN = "unknown"
    """It was not tested, or its test did not come to an end."""


class NodeVerdict(Model):
    """What is known of one node."""

    node: str
    fitness: Fitness
    reason: str | None = Field(default=None, description="why it is unfit, in a word: a known cause, or a criterion")
    why: str = Field(description="the same for a reader")
    verdicts: tuple[Verdict, ...] = Field(
        default=(), description="those that did not pass, with their lines and causes"
    )


class Fitnesses(Model):
    """What is known of all nodes."""

    nodes: tuple[NodeVerdict, ...]
    next: tuple[str, ...] = Field(default=(), description="nodes to test together next, to find which of them is bad")

    @property
    def status(self) -> int:
        """Exit status: 1 where a node is unfit, 2 where that is not known of one, else 0."""
        found = {one.fitness for one in self.nodes}
        return 1 if Fitness.UNFIT in found else 2 if found - {Fitness.FIT} or not found else 0


def is_node_test(request: Request) -> bool:
    """Return whether a job is the test of a node."""
    return PreflightParser.tool in request.prints


def spans(request: Request) -> bool:
    """Return whether a job is on several nodes, or one side of the RDMA test between two."""
    return request.is_rdma_test or (request.shape is not None and request.shape.pods > 1)


def fitness(nodes: Sequence[str], jobs: Iterable[Job], verdicts: Iterable[Verdict]) -> Fitnesses:
    """Return what jobs say of `nodes`; `verdicts` are those of the jobs."""
    by_job: dict[str, list[Verdict]] = {}
    for one in verdicts:
        by_job.setdefault(one.job, []).append(one)
    some = list(jobs)
    own = {node: _of_tests(node, some, by_job) for node in nodes}
    unfit = [node for node, one in own.items() if one.fitness is Fitness.UNFIT]
    failed = list(_between(nodes, some, by_job))
    results: dict[Group, bool] = {}
    for group, bad in failed:
        results[group] = results.get(group, True) and not bad
    narrowed = narrow(nodes, results, unfit)
    found = tuple(_with_groups(own[node], narrowed, [bad for group, bad in failed if node in group]) for node in nodes)
    return Fitnesses(nodes=found, next=narrowed.next)


def _of_tests(node: str, jobs: Iterable[Job], verdicts: dict[str, list[Verdict]]) -> NodeVerdict:
    tests = [job.request for job in jobs if is_node_test(job.request) and job.request.nodes == (node,)]
    found = [one for test in tests for one in verdicts.get(test.job, ())]
    bad = tuple(one for one in found if one.status is Status.FAIL)
    missing = tuple(one for one in found if one.status is Status.MISSING)
    if bad:
        why = "; ".join(one.measured or one.criterion for one in bad)
        return NodeVerdict(node=node, fitness=Fitness.UNFIT, reason=_reason(bad), why=why, verdicts=(*bad, *missing))
    if missing or not found:
        why = "; ".join(f"{one.criterion}: {one.measured or 'no evidence'}" for one in missing) or "it was not tested"
        return NodeVerdict(node=node, fitness=Fitness.UNKNOWN, why=why, verdicts=missing)
    return NodeVerdict(node=node, fitness=Fitness.FIT, why="its test passed")


def _reason(bad: Sequence[Verdict]) -> str:
    """Return the first known cause, or the first criterion where none is known."""
    named = {str(cause): cause.name for cause in CAUSES}
    return next((named[cause] for one in bad for cause in one.causes if cause in named), bad[0].criterion)


def _between(
    nodes: Sequence[str], jobs: Iterable[Job], verdicts: dict[str, list[Verdict]]
) -> Iterator[tuple[Group, list[Verdict]]]:
    """Yield the nodes of each job over several of them, with what failed there; jobs without evidence are left out."""
    for job in jobs:
        group = frozenset({*job.request.nodes, *job.request.peers}) & {*nodes}
        judged = [one for one in verdicts.get(job.request.job, ()) if one.criterion in BETWEEN_NODES]
        bad = [one for one in judged if one.status is Status.FAIL]
        if len(group) > 1 and judged and (bad or all(one.status is not Status.MISSING for one in judged)):
            yield group, bad


def _with_groups(own: NodeVerdict, narrowed: Narrowed, failed: Iterable[Sequence[Verdict]]) -> NodeVerdict:
    """Return the verdict on a node with what jobs over several nodes add."""
    bad = [one for some in failed for one in some]
    if own.fitness is Fitness.UNFIT or not bad:
        return own
    what = listed(dict.fromkeys(f"{one.job}: {one.criterion} {one.measured}" for one in bad))
    change: dict[str, object] = {}
    if own.node in narrowed.bad:
        why = f"every failure between nodes is with it, and the others passed without it: {what}"
        change = {"fitness": Fitness.UNFIT, "reason": PAIR, "why": why}
    elif own.node in narrowed.suspects:
        change = {"fitness": Fitness.SUSPECT, "why": f"{own.why}; jobs with it failed between nodes: {what}"}
    return own.model_copy(update={**change, "verdicts": (*own.verdicts, *bad)}) if change else own
