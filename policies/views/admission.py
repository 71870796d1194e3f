"""SCC admission for the pod templates among the objects, with one verdict for all templates that ask for the same."""

import marshal
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from apis.names import SCC_MCS, SCC_SUPPLEMENTAL_GROUPS, SCC_UID_RANGE
from policies.objects import Pod
from policies.scc import InvalidPod, Namespace, Reason, Release, Verdict, admit
from policies.scc.constraints import constraint
from policies.scc.providers import Unprepared, provider
from policies.values import Path
from policies.views.accounts import ANYBODY, accounts
from policies.views.asked import asked, freed, pruned
from policies.views.namespaces import Allocation, Namespaces
from policies.world import World

STAND_IN: Mapping[str, str] = {
    SCC_UID_RANGE: "1000000000/10000",
    SCC_SUPPLEMENTAL_GROUPS: "1000000000/10000",
    SCC_MCS: "s0:c1,c0",
}
"""What a namespace has that OpenShift has not annotated yet; any values do, since no manifest can know them."""

_UNABLE = "unable to validate against any security context constraint"
_NOT_USABLE = "Forbidden: not usable by user or serviceaccount"
_LONGEST = 600
_PLACE = re.compile(r"(?:^|: )\.?((?:spec|containers|initContainers|ephemeralContainers)[\w.\[\]]*): ")
_WORD = re.compile(r"\w+")
_OF_THE_POD = frozenset({"hostNetwork", "hostPID", "hostIPC"})


@dataclass(frozen=True)
class Outcome:
    """What becomes of a pod: `words` are OpenShift's, empty when it is admitted; `place` is below the pod's spec.

    `elsewhere` is what would become of it in a namespace that has whatever ids and level it asks for.
    """

    words: str = ""
    place: Path = ()
    elsewhere: "Outcome | None" = None


_ADMITTED = Outcome()


class Admission:
    """Predicts what becomes of pods; `accounts` are those that it reckons with."""

    def __init__(self, world: World, release: Release) -> None:
        self.accounts = world.once(accounts(release))
        self._namespaces = world.once(Namespaces)
        self._sccs = [scc for scc in map(_lean, self.accounts.sccs.values()) if _sound(scc)]
        self._known: dict[str, tuple[Namespace, Allocation | None]] = {}
        self._outcomes: dict[tuple[str, str, bytes], Outcome] = {}

    def of(self, pod: Pod, namespace: str, account: str) -> tuple[Outcome, Allocation | None]:
        """Return what becomes of a template's pods in a namespace under an account, and what the namespace allocates.

        What is not known before the update is left out, which refuses nothing.
        """
        if namespace not in self._known:
            found = self._namespaces.get(namespace)
            annotations = {**STAND_IN, **(found.annotations if found else {})}
            self._known[namespace] = Namespace(namespace, annotations), found
        where, found = self._known[namespace]
        tree = asked(pod)
        try:
            content = marshal.dumps(tree, 2)
        except ValueError:  # something is unknown, no JSON, or too deep
            tree = pruned(tree)
            content = marshal.dumps(tree, 2)
        key = namespace, account, content
        if key not in self._outcomes:
            self._outcomes[key] = self._outcome(tree, where, account)
        return self._outcomes[key], found

    def _outcome(self, tree: dict[str, Any], namespace: Namespace, account: str) -> Outcome:
        tree["spec"]["serviceAccountName"] = account
        usable = self.accounts.usable(namespace.name, account)
        try:
            here = _read(admit(tree, namespace, ANYBODY, self._sccs, usable))
            if here is _ADMITTED:
                return here
            return replace(here, elsewhere=_read(admit(freed(tree), namespace, ANYBODY, self._sccs, usable)))
        except InvalidPod as error:
            return Outcome(f"the API server cannot read it: {error}")
        except (RecursionError, ValueError):  # a value that cannot even be shown
            return Outcome("the API server cannot read it: a value is nested too deeply, or is a huge number")


@cache
def admission(release: Release) -> Callable[[World], Admission]:
    """Return what `World.once` takes to make the admission of a release."""
    return lambda world: Admission(world, release)


def _lean(scc: Mapping[str, Any]) -> dict[str, Any]:
    """Return an SCC without the metadata that admission does not read."""
    metadata = scc.get("metadata")
    return {**scc, "metadata": {"name": metadata.get("name")} if isinstance(metadata, Mapping) else {}}


def _sound(scc: Mapping[str, Any]) -> bool:
    """Say whether an SCC can be worked with; one that cannot would refuse every pod, and is another rule's matter."""
    try:
        provider(constraint(scc, "scc"), Namespace("stand-in", STAND_IN))
    except (ValueError, Unprepared, RecursionError):
        return False
    return True


def _read(verdict: Verdict) -> Outcome:
    if verdict.admitted:
        return _ADMITTED
    return Outcome(_words(verdict.message, verdict.reasons), _place(verdict.reasons))


def _words(message: str, reasons: Iterable[Reason]) -> str:
    """Return OpenShift's words, less the SCCs that the account may not use: many, and the same each time."""
    own = [reason.message for reason in reasons if reason.scc and not reason.message.endswith(_NOT_USABLE)]
    words = f"{_UNABLE}: [{', '.join(dict.fromkeys(own))}]" if own else message.partition(" is forbidden: ")[2]
    return words if len(words) <= _LONGEST else f"{words[:_LONGEST]} ..."


def _place(reasons: Iterable[Reason]) -> Path:
    """Return the field that the first complaint is about."""
    found = next((match for reason in reasons if (match := _PLACE.search(reason.message))), None)
    if found is None:
        return ()
    words: Path = tuple(int(word) if word.isdigit() else word for word in _WORD.findall(found[1]))
    match words:
        case ("spec", *rest):
            return tuple(rest)
        case (_, _, field) if field in _OF_THE_POD:
            return (field,)
        case (*_, group, index, "hostPort"):
            return group, index, "ports"
        case (group, index, *rest):
            return group, index, "securityContext", *rest
    return ()
