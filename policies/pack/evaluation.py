"""What all policies share while the pack answers one request of the engine.

The SDK calls the policies one after another, on one thread, in the order of the pack, and hands each a copy of the
same properties. The first one reads them; the others find the objects, and the doubts gathered so far, here.
"""

import threading
from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import count

from pulumi_policy import PolicyResource, ResourceValidationArgs, StackValidationArgs

from policies.findings import Finding
from policies.objects import Obj
from policies.pack.objects import as_objects
from policies.pack.redaction import texts
from policies.world import World

_NOT_KNOWN = "?"


class Evaluation:
    """The objects of one request and what could not be verified about them.

    `whole` says that the objects are all there is on the cluster; it counts until the first look at `world`.
    """

    def __init__(self, subjects: Sequence[Obj], *, whole: bool = True) -> None:
        self.subjects = subjects
        self.whole = whole
        self.doubts: list[Finding] = []

    @cached_property
    def world(self) -> World:
        """All objects. One whose name is not known yet may be the other end of any link, so that none is missing."""
        named = all(_NOT_KNOWN not in (subject.name, subject.namespace) for subject in self.subjects)
        return World(self.subjects, complete=self.whole and named)

    @cached_property
    def secrets(self) -> tuple[str, ...]:
        """What no message may show."""
        return texts(self.subjects)


class _Requests:
    """Tells one request from the next: on one thread, a policy's turn comes but once in each."""

    def __init__(self) -> None:
        self._turns = count()
        self._state = threading.local()

    def turn(self) -> int:
        """Return the place of one more policy in the order of the pack."""
        return next(self._turns)

    def _current(self, turn: int, key: str, make: Callable[[], Evaluation]) -> Evaluation:
        state = self._state
        if getattr(state, "key", None) != key or turn <= state.turn:
            state.key, state.evaluation = key, make()
        state.turn = turn
        found: Evaluation = state.evaluation
        return found


class ResourceRequests(_Requests):
    """Requests about one resource."""

    def evaluation(self, turn: int, arguments: ResourceValidationArgs) -> Evaluation:
        """Return what the policies share about the resource: its inputs."""

        def make() -> Evaluation:
            found = as_objects(arguments.resource_type, arguments.props, arguments.name, arguments.urn)
            return Evaluation(tuple(found), whole=False)

        return self._current(turn, arguments.urn, make)


class StackRequests(_Requests):
    """Requests about the whole stack."""

    def evaluation(self, turn: int, arguments: StackValidationArgs) -> Evaluation:
        """Return what the policies share about the stack: the outputs of its resources."""

        def make() -> Evaluation:
            return Evaluation(tuple(subject for resource in arguments.resources for subject in _subjects(resource)))

        return self._current(turn, "", make)


def _subjects(resource: PolicyResource) -> list[Obj]:
    return [*as_objects(resource.resource_type, resource.props, resource.name, resource.urn, live=True)]
