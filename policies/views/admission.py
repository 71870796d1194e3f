"""SCC admission for the pod templates among the objects, with one verdict for all templates that ask for the same."""

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

from policies.manifests.inventory import Inventory
from policies.manifests.pods import CONTAINER_LISTS, Pod
from policies.manifests.values import Path, Tree, Unknown, is_mapping, overlap, read
from policies.scc import REQUIRED_ANNOTATION, InvalidPod, Namespace, Reason, Release, Verdict, admit
from policies.scc.constraints import constraint
from policies.scc.providers import Unprepared, provider
from policies.scc.seccomp import CONTAINER_ANNOTATION, POD_ANNOTATION, PROFILE, about_profile
from policies.views.accounts import ANYBODY, STAND_IN, UNKNOWN, Allocation, Namespaces, accounts

_FIELDS = ("hostNetwork", "hostPID", "hostIPC", "hostUsers", "os", "securityContext")
_OF_CONTAINER = ("securityContext", "ports")
_ANNOTATIONS = (REQUIRED_ANNOTATION, POD_ANNOTATION, CONTAINER_ANNOTATION)
_WITH_CONTENT = ("projected", "flexVolume")
_DEEPEST = 12


def admission_part(pod: Pod) -> dict[str, Any]:
    """Return the pod with what matters alone, so that equal demands are equal trees; fresh down to its spec."""
    tree, annotations = pod.tree, pod.metadata.tree.get("annotations")
    if annotations is not None and isinstance(annotations, Mapping):
        annotations = {key: annotations[key] for key in annotations if _counts(key)}
    # Names of containers matter to annotations only.
    fields = ("name", *_OF_CONTAINER) if annotations else _OF_CONTAINER
    spec: dict[str, Any] = {key: tree[key] for key in _FIELDS if key in tree}
    if (volumes := tree.get("volumes")) is not None:
        spec["volumes"] = [*map(_volume_part, volumes)] if isinstance(volumes, list) else volumes
    for group in CONTAINER_LISTS:
        if (containers := tree.get(group)) is not None:
            spec[group] = [_only(entry, fields) for entry in containers] if isinstance(containers, list) else containers
    return {"metadata": {"annotations": annotations}, "spec": spec} if annotations else {"spec": spec}


def _volume_part(entry: Tree) -> Tree:
    if not is_mapping(entry):
        return entry
    return {key: entry[key] if key in _WITH_CONTENT or entry[key] is None else {} for key in entry if key != "name"}


def _only(entry: Tree, fields: tuple[str, ...]) -> Tree:
    if not is_mapping(entry):
        return entry
    return {key: entry[key] for key in fields if key in entry}


def hidden(pod: Pod) -> Iterator[Unknown]:
    """Yield the values of a pod that admission reads and that are unknown."""
    for value in pod.object.unknown:
        for root, matters in ((pod.path, _in_spec), (pod.metadata.path, _in_metadata)):
            if overlap(value.path, root) and matters(value.path[len(root) :]):
                yield value


def _in_metadata(path: Path) -> bool:
    return not path or (path[0] == "annotations" and (len(path) == 1 or _counts(path[1])))


def _counts(annotation: object) -> bool:
    return isinstance(annotation, str) and annotation.startswith(_ANNOTATIONS)


def _in_spec(path: Path) -> bool:
    match path:
        case ("volumes", _, field, *below):
            return field in _WITH_CONTENT or (not below and field != "name")
        case (group, _, "ports", _, field, *_) if group in CONTAINER_LISTS:
            return field == "hostPort"
        case (group, _, field, *_) if group in CONTAINER_LISTS:
            return field in _OF_CONTAINER
        case (field, *_):
            return field == "volumes" or field in _FIELDS or field in CONTAINER_LISTS
    return True


def pruned(tree: Tree, depth: int = 0) -> Tree:
    """Return a tree without what is unknown, too deep, or no JSON."""
    if isinstance(tree, Mapping):
        pairs = ((key, pruned(tree[key], depth + 1)) for key in tree if depth < _DEEPEST and isinstance(key, str))
        return {key: value for key, value in pairs if value is not None}
    if isinstance(tree, list):
        entries = (pruned(value, depth + 1) for value in tree if depth < _DEEPEST)
        return [value for value in entries if value is not None]
    return tree if isinstance(tree, str | int | float) else None


def freed(tree: Tree, fields: Collection[str]) -> Tree:
    """Return a tree without the ids and levels of these fields, wherever they are; root is none of them."""
    if isinstance(tree, Mapping):
        return {key: freed(value, fields) for key, value in tree.items() if key not in fields or value == 0}
    return [freed(entry, fields) for entry in tree] if isinstance(tree, list) else tree


_UNABLE = "unable to validate against any security context constraint"
_NOT_USABLE = "Forbidden: not usable by user or serviceaccount"
_LONGEST = 600
_PLACE = re.compile(r"(?:^|: )\.?((?:spec|containers|initContainers|ephemeralContainers)[\w.\[\]]*): ")
_WORD = re.compile(r"\w+")
_OF_THE_POD = frozenset({"hostNetwork", "hostPID", "hostIPC"})


@dataclass(frozen=True)
class Outcome:
    """What becomes of a pod: `message` is OpenShift's, empty when it is admitted; `place` is below the pod's spec.

    `scc` takes the pod, and `spec` is what it completes: the part of the pod's that admission reads.
    `elsewhere` is what would become of it if the namespace had whatever it asks for of what is not known of the
    namespace; None when all is known.
    """

    message: str = ""
    place: Path = ()
    elsewhere: "Outcome | None" = None
    scc: str = field(default="", compare=False)
    spec: Mapping[str, Any] = field(default_factory=dict, compare=False)


class Admission:
    """Predicts what becomes of pods; `accounts` are those that it reckons with."""

    def __init__(self, inventory: Inventory, release: Release) -> None:
        self.accounts = inventory.once(accounts(release))
        self._namespaces = inventory.once(Namespaces)
        self._sccs = [scc for scc in map(_without_metadata, self.accounts.sccs.values()) if _is_readable(scc)]
        self._known: dict[str, tuple[Namespace, Allocation | None, frozenset[str]]] = {}
        self._outcomes: dict[tuple[str, frozenset[str], object], Outcome] = {}

    def of(self, pod: Pod, namespace: str, account: str) -> tuple[Outcome, Allocation | None]:
        """Return what becomes of a template's pods in a namespace under an account, and what the namespace allocates.

        What is unknown until the update is left out, which refuses nothing.
        """
        if namespace not in self._known:
            allocated = self._namespaces.get(namespace)
            annotations = {**STAND_IN, **(allocated.annotations if allocated else {})}
            self._known[namespace] = Namespace(namespace, annotations), allocated, (allocated or UNKNOWN).open
        target, allocated, free = self._known[namespace]
        tree = admission_part(pod)
        content: object = _content(tree)
        if content is None:
            tree = pruned(tree)
            content = _content(tree) or object()  # a number of thousands of digits: it shares no outcome
        # Of an account only its SCCs count, so that the launchers of 2020, each with its own, share an outcome.
        usable = self.accounts.usable(namespace, account)
        key = namespace, usable, content
        if key not in self._outcomes:
            tree["spec"]["serviceAccountName"] = account
            self._outcomes[key] = self._outcome(tree, target, usable, free)
        return self._outcomes[key], allocated

    def _outcome(
        self, tree: dict[str, Any], namespace: Namespace, usable: frozenset[str], free: frozenset[str]
    ) -> Outcome:
        try:
            outcome = _read(admit(tree, namespace, ANYBODY, self._sccs, usable), tree)
            if not outcome.message or not free:
                return outcome
            other = freed(tree, free)
            return replace(outcome, elsewhere=_read(admit(other, namespace, ANYBODY, self._sccs, usable), other))
        except InvalidPod as error:
            return Outcome(f"the API server cannot read it: {error}")
        except (RecursionError, ValueError):  # a value that cannot even be shown
            return Outcome("the API server cannot read it: a value is nested too deeply, or is a huge number")


def _content(tree: Mapping[str, Any]) -> str | None:
    """Return a text that equal trees share; None where something is unknown, no JSON, or too deep."""
    try:
        return json.dumps(tree)
    except (TypeError, ValueError, RecursionError):
        return None


@cache
def admission(release: Release) -> Callable[[Inventory], Admission]:
    """Return what `Inventory.once` takes to make the admission of a release."""
    return lambda inventory: Admission(inventory, release)


def _without_metadata(scc: Mapping[str, Any]) -> dict[str, Any]:
    metadata = scc.get("metadata")
    return {**scc, "metadata": {"name": metadata.get("name")} if isinstance(metadata, Mapping) else {}}


def _is_readable(scc: Mapping[str, Any]) -> bool:
    """Return whether an SCC is readable; one that is not would refuse every pod, and is another rule's matter."""
    try:
        provider(constraint(scc, "scc"), Namespace("stand-in", STAND_IN))
    except (ValueError, Unprepared, RecursionError):
        return False
    return True


def _read(verdict: Verdict, tree: dict[str, Any]) -> Outcome:
    if verdict.admitted:
        return Outcome(scc=verdict.scc or "", spec=verdict.pod["spec"])
    words = _words(verdict.message, verdict.reasons)
    for reason in verdict.reasons:
        if about_profile(reason.message) and (place := _profile(tree["spec"])):
            return Outcome(f"{words}; what the plugin calls the annotation seccomp... is the field {PROFILE}", place)
        if match := _PLACE.search(reason.message):
            return Outcome(words, _place(match[1]))
    return Outcome(words)


def _words(message: str, reasons: Iterable[Reason]) -> str:
    """Return OpenShift's words, less the SCCs that the account may not use: many, and the same each time."""
    refusals = [reason.message for reason in reasons if reason.scc and not reason.message.endswith(_NOT_USABLE)]
    words = (
        f"{_UNABLE}: [{', '.join(dict.fromkeys(refusals))}]" if refusals else message.partition(" is forbidden: ")[2]
    )
    return words if len(words) <= _LONGEST else f"{words[:_LONGEST]} ..."


def _profile(spec: Mapping[str, Any]) -> Path:
    """Return the first seccomp profile of a pod, since the plugin's message does not name its field."""
    places = [(), *((group, index) for group in CONTAINER_LISTS for index, _ in enumerate(spec.get(group) or ()))]
    paths = ((*place, "securityContext", PROFILE) for place in places)
    return next((path for path in paths if read(spec, *path) is not None), ())


def _place(field_path: str) -> Path:
    """Return the field of a complaint, `spec.volumes[1]` or `containers[0].hostPID`, below the pod's spec."""
    words: Path = tuple(int(word) if word.isdigit() else word for word in _WORD.findall(field_path))
    match words:
        case ("spec", *path):
            return tuple(path)
        case (_, _, field) if field in _OF_THE_POD:
            return (field,)
        case (*_, group, index, "hostPort"):
            return group, index, "ports"
        case (group, index, *path):
            return group, index, "securityContext", *path
    return ()
