"""Which nodes are fit for jobs: by the test of each node, and by jobs over several of them, which narrow down the bad.

A group passes when all of its nodes are good. A test needs two nodes at least, so that a single node is tested beside
another one. Pure.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from pydantic import Field

from core.model import Model
from toolkit.evidence.diagnosis.cause_table import CAUSES, HCAS, LATENCY, LINK, TRANSPORT
from toolkit.evidence.tools.preflight import PreflightParser
from toolkit.evidence.verdict import Job, Request, Status, Verdict
from toolkit.evidence.wording import listed

Group = frozenset[str]


@dataclass(frozen=True)
class Narrowed:
    """What tests of groups say."""

    good: tuple[str, ...]
    """Nodes of groups that passed."""
    bad: tuple[str, ...]
    """Nodes that are bad: each was in a group that failed, whose other nodes are good."""
    suspects: tuple[str, ...]
    """Of the smallest group that failed and is not explained, those that are not known to be good."""
    next: tuple[str, ...]
    """Nodes to test together next; empty: nothing is left to find, or no further test can determine it."""

    @property
    def undecided(self) -> bool:
        """Whether a group failed of which no bad node is known, nor how to find it."""
        return bool(self.suspects) and not self.next


def narrow(nodes: Sequence[str], results: Mapping[Group, bool], known_bad: Iterable[str] = ()) -> Narrowed:
    """Return what is known after tests of groups of `nodes`, and which to test next: half of the suspects.

    `results` has for each group whether it passed. `known_bad` are nodes that other tests found: groups with them are
    explained. A test that repeats one of `results` is never next.
    """
    good = {node for group, passed in results.items() if passed for node in group}
    failed = [group for group, passed in results.items() if not passed]
    bad = set(known_bad)
    bad |= {node for group in failed if len(group - good) == 1 and not group & bad for node in group - good}
    good -= bad
    unexplained = [group - good for group in failed if not group & bad and group - good]
    # One bad node is in all of them; where none is, there are several, and one of the smallest group is the next.
    common = frozenset[str].intersection(*unexplained) if unexplained else frozenset[str]()
    suspects = common or min(unexplained, key=lambda group: (len(group), sorted(group)), default=common)
    ordered = [node for node in nodes if node in suspects]
    return Narrowed(
        good=tuple(node for node in nodes if node in good),
        bad=tuple(node for node in nodes if node in bad),
        suspects=tuple(ordered),
        next=_next_group([node for node in nodes if node not in bad], ordered, good, {*results}),
    )


def _next_group(nodes: Sequence[str], suspects: Sequence[str], good: set[str], done: set[Group]) -> tuple[str, ...]:
    """Return the next group; `nodes` are those that are not known to be bad."""
    others = [node for node in nodes if node not in suspects]
    match suspects:
        case []:
            return ()
        case [_]:
            # That all others pass proves it, whether they were known to be good or not.
            options = [tuple(others)] if len(others) > 1 else []
        case [_, _] | [_, _, _]:
            partners = [*(node for node in others if node in good), *(node for node in others if node not in good)]
            partners += suspects if len(suspects) > 2 else ()  # noqa: PLR2004 - a pair of two was tested already
            options = [(node, partner) for node in suspects for partner in partners if node != partner]
        case _:
            options = [tuple(suspects[: len(suspects) // 2])]
    return next((option for option in options if frozenset(option) not in done), ())


BETWEEN_NODES = TRANSPORT | LATENCY | LINK | HCAS | {"public-bus-bandwidth"}
"""Criteria that a bad node fails for all nodes of a job; others, such as the number of ranks, concern no node."""
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
    verdicts: tuple[Verdict, ...] = Field(default=(), description="those that did not pass, with lines and causes")


class Fitnesses(Model):
    """What is known of all nodes."""

    nodes: tuple[NodeVerdict, ...]
    next: tuple[str, ...] = Field(default=(), description="nodes to test together next, to find which of them is bad")

    @property
    def status(self) -> int:
        """Exit status: 1 where a node is unfit, 2 where that is not known of one, else 0."""
        fitnesses = {node.fitness for node in self.nodes}
        return 1 if Fitness.UNFIT in fitnesses else 2 if fitnesses - {Fitness.FIT} or not fitnesses else 0


def is_node_test(request: Request) -> bool:
    """Return whether a job is the test of a node."""
    return PreflightParser.tool in request.prints


def spans(request: Request) -> bool:
    """Return whether a job is on several nodes, or one side of the RDMA test between two."""
    return request.is_rdma_test or (request.shape is not None and request.shape.pods > 1)


def fitness(nodes: Sequence[str], jobs: Iterable[Job], verdicts: Iterable[Verdict]) -> Fitnesses:
    """Return the fitness of `nodes` by their jobs; `verdicts` are those of the jobs."""
    by_job: dict[str, list[Verdict]] = {}
    for verdict in verdicts:
        by_job.setdefault(verdict.job, []).append(verdict)
    all_jobs = list(jobs)
    by_node = {node: _of_tests(node, all_jobs, by_job) for node in nodes}
    unfit = [node for node, node_verdict in by_node.items() if node_verdict.fitness is Fitness.UNFIT]
    failed = list(_between(nodes, all_jobs, by_job))
    results: dict[Group, bool] = {}
    for group, failures in failed:
        results[group] = results.get(group, True) and not failures
    narrowed = narrow(nodes, results, unfit)
    node_verdicts = tuple(
        _with_groups(by_node[node], narrowed, [failures for group, failures in failed if node in group])
        for node in nodes
    )
    return Fitnesses(nodes=node_verdicts, next=narrowed.next)


def _of_tests(node: str, jobs: Iterable[Job], verdicts: dict[str, list[Verdict]]) -> NodeVerdict:
    tests = [job.request for job in jobs if is_node_test(job.request) and job.request.nodes == (node,)]
    node_verdicts = [verdict for test in tests for verdict in verdicts.get(test.job, ())]
    failed = tuple(verdict for verdict in node_verdicts if verdict.status is Status.FAIL)
    missing = tuple(verdict for verdict in node_verdicts if verdict.status is Status.MISSING)
    if failed:
        why = "; ".join(verdict.measured or verdict.criterion for verdict in failed)
        return NodeVerdict(
            node=node, fitness=Fitness.UNFIT, reason=_reason(failed), why=why, verdicts=(*failed, *missing)
        )
    if missing or not node_verdicts:
        lacks = [f"{verdict.criterion}: {verdict.measured or 'no evidence'}" for verdict in missing]
        why = "; ".join(lacks) or "it was not tested"
        return NodeVerdict(node=node, fitness=Fitness.UNKNOWN, why=why, verdicts=missing)
    return NodeVerdict(node=node, fitness=Fitness.FIT, why="its test passed")


def _reason(failed: Sequence[Verdict]) -> str:
    """Return the first known cause, or the first criterion where none is known."""
    named = {str(cause): cause.name for cause in CAUSES}
    return next((named[cause] for verdict in failed for cause in verdict.causes if cause in named), failed[0].criterion)


def _between(
    nodes: Sequence[str], jobs: Iterable[Job], verdicts: dict[str, list[Verdict]]
) -> Iterator[tuple[Group, list[Verdict]]]:
    """Yield the nodes of each job over several of them, with what failed there; jobs without evidence are left out."""
    for job in jobs:
        group = frozenset({*job.request.nodes, *job.request.peers}) & {*nodes}
        judged = [verdict for verdict in verdicts.get(job.request.job, ()) if verdict.criterion in BETWEEN_NODES]
        failed_here = [verdict for verdict in judged if verdict.status is Status.FAIL]
        whole = all(verdict.status is not Status.MISSING for verdict in judged)
        if len(group) > 1 and judged and (failed_here or whole):
            yield group, failed_here


def _with_groups(node_verdict: NodeVerdict, narrowed: Narrowed, failed: Iterable[Sequence[Verdict]]) -> NodeVerdict:
    """Return the verdict on a node with what jobs over several nodes add."""
    failures = [verdict for group_verdicts in failed for verdict in group_verdicts]
    if node_verdict.fitness is Fitness.UNFIT or not failures:
        return node_verdict
    what = listed(dict.fromkeys(f"{verdict.job}: {verdict.criterion} {verdict.measured}" for verdict in failures))
    change: dict[str, object] = {}
    if node_verdict.node in narrowed.bad:
        why = f"every failure between nodes is with it, and the others passed without it: {what}"
        change = {"fitness": Fitness.UNFIT, "reason": PAIR, "why": why}
    elif node_verdict.node in narrowed.suspects:
        change = {"fitness": Fitness.SUSPECT, "why": f"{node_verdict.why}; jobs with it failed between nodes: {what}"}
    if not change:
        return node_verdict
    return node_verdict.model_copy(update={**change, "verdicts": (*node_verdict.verdicts, *failures)})
