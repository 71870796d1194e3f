"""An SCC's strategies are ones that OpenShift knows, with what each needs."""

from collections.abc import Iterator, Mapping

from core.apis.kinds import SECURITY_CONTEXT_CONSTRAINTS
from policies.findings import Severity
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Part, Violation
from policies.manifests.values import Path, brief
from policies.rule import Parameters, Rule
from policies.scc.volumes import ALL, NONE, SOURCES

_MUST, _RANGE, _ANY = "MustRunAs", "MustRunAsRange", "RunAsAny"
_STRATEGIES: Mapping[str, tuple[str, ...]] = {
    "runAsUser": (_MUST, _RANGE, "MustRunAsNonRoot", _ANY),
    "seLinuxContext": (_MUST, _ANY),
    "fsGroup": (_MUST, _ANY),
    "supplementalGroups": (_MUST, _ANY),
}
_DEFAULTED = frozenset({"fsGroup", "supplementalGroups"})
_VOLUMES = frozenset({*SOURCES.values(), ALL, NONE})


def _examine(subject: Obj, _: Inventory, __: Parameters) -> Iterator[Violation]:
    for field, kinds in _STRATEGIES.items():
        if subject.partial and field not in subject.tree:
            continue
        kind = subject.read(field, "type")
        if kind not in kinds:
            strategy = "has no strategy" if kind is None else f"has the strategy {brief(kind)}"
            default = f", which makes it {_ANY}" if not kind and field in _DEFAULTED else ""
            place = (field, "type") if subject.tree.get(field) else (field,)
            yield subject.violation(f"{strategy} for {field}{default}; known: {', '.join(kinds)}", *place)
    yield from _user(subject)
    for field in ("fsGroup", "supplementalGroups"):
        for entry in subject.parts(field, "ranges"):
            yield from _ordered(entry, ("min",), ("max",))
    yield from _volumes(subject)
    if subject.read("defaultAllowPrivilegeEscalation") is True and subject.read("allowPrivilegeEscalation") is False:
        yield subject.violation(
            "allows privilege escalation by default and forbids it", "defaultAllowPrivilegeEscalation"
        )
    if isinstance(priority := subject.read("priority"), int) and priority < 0:
        yield subject.violation(f"has the priority {brief(priority)}, which is negative", "priority")


def _user(subject: Obj) -> Iterator[Violation]:
    place = "runAsUser"
    kind, uid = subject.read(place, "type"), subject.read(place, "uid")
    if kind == _MUST and not _number(uid):
        yield subject.violation(f"has the strategy {_MUST} for {place} and no uid", place, "uid")
    elif _number(uid) and uid < 0:
        yield subject.violation(f"has the uid {brief(uid)}, which is negative", place, "uid")
    first, last = "uidRangeMin", "uidRangeMax"
    bounds = [key for key in (first, last) if subject.read(place, key) is not None]
    if kind == _RANGE and len(bounds) == 1:
        missing = last if bounds == [first] else first
        yield subject.violation(f"has {bounds[0]} and no {missing}", place, missing)
    yield from _ordered(subject, (place, first), (place, last))


def _ordered(part: Part, first: Path, last: Path) -> Iterator[Violation]:
    low, high = part.read(*first), part.read(*last)
    for place, value in ((first, low), (last, high)):
        if _number(value) and value < 0:
            yield part.violation(f"has {place[-1]} {brief(value)}, which is negative", *place)
    if _number(low) and _number(high) and low > high:
        yield part.violation(f"has {first[-1]} {brief(low)}, which is more than {last[-1]} {brief(high)}", *first)


def _volumes(subject: Obj) -> Iterator[Violation]:
    volumes = subject.entries("volumes")
    for index, name in enumerate(volumes):
        if isinstance(name, str) and name not in _VOLUMES:
            yield subject.violation(f"allows volumes of the type {brief(name)}, which does not exist", "volumes", index)
    if NONE in volumes and len(volumes) > 1:
        yield subject.violation(f"allows {NONE} and other volumes", "volumes", volumes.index(NONE))


def _number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


SCC_KNOWN_STRATEGIES = Rule(
    name="scc-known-strategies",
    what="runAsUser, seLinuxContext, fsGroup and supplementalGroups of an SCC have a strategy that OpenShift knows, "
    "with its uid and well-formed ranges; its volumes are types that exist.",
    why="The CRD accepts any text. OpenShift's own validation refuses an unknown strategy (invalid strategy type). An "
    "SCC that slips past it breaks admission in every namespace, even of pods that do not use it (error creating "
    "provider for SCC: Unrecognized RunAsUser strategy type). An SCC without a strategy for fsGroup or "
    "supplementalGroups lets pods have any group.",
    remedy="Write one of the known strategies, a uid for MustRunAs, and ranges from a smaller to a larger number",
    source="platform-facts 1.10, platform-facts 4.3",
    severity=Severity.MANDATORY,
    parameters=Parameters,
    examine=_examine,
    kinds=(SECURITY_CONTEXT_CONSTRAINTS,),
)
