"""Which node of many is the bad one, by tests of groups of them. Pure.

A group passes when all of its nodes are good. A test needs two nodes at least, so that a single node is tested beside
another one.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

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
        next=_next([node for node in nodes if node not in bad], ordered, good, {*results}),
    )


def _next(nodes: Sequence[str], suspects: Sequence[str], good: set[str], done: set[Group]) -> tuple[str, ...]:
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
