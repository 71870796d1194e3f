"""Which rank the others wait for, by the dumps of PyTorch's flight recorder.

Who waits cannot be the culprit: it is who wrote no dump, who did not start the operation that others wait in, or who
started another one in its place.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from toolkit.evidence.criterion import Criterion, Outcome, readings_of
from toolkit.evidence.flight_recorder.dump import FLIGHT_RECORDER, FlightRecorder, Group, Operation
from toolkit.evidence.verdict import Job, Proof, Status
from toolkit.evidence.wording import listed

Groups = Mapping[int, tuple[FlightRecorder, Group]]
"""Rank -> its dump, and what it has of one process group."""
_ALIKE = frozenset({"all_reduce", "all_gather", "reduce_scatter", "broadcast", "reduce", "barrier"})
"""Operations in which all ranks have inputs of one size."""


def _in_step(job: Job) -> Outcome | None:
    dumps = readings_of(job, FlightRecorder)
    unread = [dump for dump in dumps if not dump.complete]
    if unread and len(unread) == len(dumps):
        return Outcome(Status.MISSING, listed(f"{dump.file}: {dump.incomplete}" for dump in unread))
    facts = [fact for groups in _by_group(dumps) for fact in _facts(groups)]
    if facts:
        proofs = tuple(proof for _, proof in facts)
        return Outcome(Status.FAIL, "; ".join(dict.fromkeys(text for text, _ in facts)), proofs=proofs)
    if len({dump.rank for dump in dumps}) < 2:  # noqa: PLR2004 - one rank shows nothing of the others
        return Outcome(Status.MISSING, "the dump of one rank alone: add those of the others")
    return Outcome(Status.PASS, f"{len({dump.rank for dump in dumps})} ranks at the same operation")


def _by_group(dumps: Sequence[FlightRecorder]) -> Iterator[Groups]:
    names = dict.fromkeys((group.name, group.ranks) for dump in dumps for group in dump.groups)
    for name in names:
        yield {
            dump.rank: (dump, group)
            for dump in dumps
            for group in dump.groups
            if dump.rank is not None and (group.name, group.ranks) == name
        }


def _facts(groups: Groups) -> Iterator[tuple[str, Proof]]:
    """Yield what keeps a process group from going on, the most telling first."""
    if not groups:
        return
    farthest = max(groups, key=lambda rank: groups[rank][1].enqueued)
    dump, group = groups[farthest]
    waits = _waited(group)
    # A group of which most ranks wrote no dump was not given as a whole.
    absent = sorted({*group.ranks} - {*groups})
    if absent and len(absent) <= len(groups):
        text = f"no dump of rank {listed(map(str, absent))}, while {_waiters(groups)} in {waits}"
        yield text, _proof(dump, group.last[-1:], f"operations of rank {farthest} in {group.name}")
    for rank, (own, behind) in sorted(groups.items()):
        if behind.enqueued < group.enqueued:
            text = f"rank {rank} is behind: it did not start operation {behind.enqueued + 1} of {group.name}, in which"
            yield f"{text} others wait ({waits})", _proof(own, behind.last[-1:], f"the last of rank {rank}")
    yield from _different(groups)
    if not absent and len({own.enqueued for _, own in groups.values()}) == 1:
        yield from _incomplete(groups)


def _different(groups: Groups) -> Iterator[tuple[str, Proof]]:
    """Yield ranks that called another operation than most, or with another size, under the same number."""
    calls = {
        rank: {operation.number: operation for operation in group.last} for rank, (_, group) in sorted(groups.items())
    }
    for number in sorted({number for own in calls.values() for number in own}):
        shapes = {rank: _call(own[number]) for rank, own in calls.items() if number in own}
        usual, count = Counter(shapes.values()).most_common(1)[0]
        odd = [rank for rank, shape in shapes.items() if shape != usual]
        if odd and count > len(odd):
            rank = odd[0]
            text = f"rank {listed(map(str, odd))} called {shapes[rank]} as operation {number}, the others {usual}"
            yield text, _proof(groups[rank][0], [calls[rank][number]], f"operation {number} of rank {rank}")
            return


def _incomplete(groups: Groups) -> Iterator[tuple[str, Proof]]:
    """Yield ranks whose GPU did not come as far as those of others: NCCL alone records it."""
    if not all(group.last and group.last[-1].name.startswith("nccl:") for _, group in groups.values()):
        return
    most = max(group.completed for _, group in groups.values())
    for rank, (dump, group) in sorted(groups.items()):
        if group.completed < most:
            text = (
                f"rank {rank} is behind: its GPU completed operation {group.completed}, others {most}, of {group.name}"
            )
            yield text, _proof(dump, group.last[-1:], f"the last of rank {rank}")


def _call(operation: Operation) -> str:
    kind = operation.name.rpartition(":")[2]
    return f"{kind} of {[*map(list, operation.sizes)]}" if kind.strip("_") in _ALIKE else kind


def _waited(group: Group) -> str:
    last = group.last[-1:]
    return f"operation {group.enqueued} of {group.name}" + "".join(f", {operation.name}" for operation in last)


def _waiters(groups: Groups) -> str:
    ranks = listed(map(str, sorted(groups)))
    return f"rank {ranks} waits" if len(groups) == 1 else f"ranks {ranks} wait"


def _proof(dump: FlightRecorder, operations: Sequence[Operation], what: str) -> Proof:
    text = what
    for operation in operations:
        text += f": {operation.number} {operation.name} {operation.state}"
        text += f" at {operation.place}" if operation.place else ""
    return Proof(file=dump.file, line=1, text=text)


CRITERIA = (
    Criterion(
        name="ranks-in-step",
        title="All ranks started the same operations",
        limit="no rank absent or behind, and none with another operation",
        applies="dumps of PyTorch's flight recorder",
        source="docs.pytorch.org/tutorials/unstable/flight_recorder_tutorial.html",
        needs=(FLIGHT_RECORDER,),
        judge=_in_step,
        missed=False,
    ),
)
