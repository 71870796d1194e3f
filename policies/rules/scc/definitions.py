"""The fields of an SCC."""

from collections.abc import Iterator, Mapping
from typing import Any

from core.apis.kinds import SECURITY_CONTEXT_CONSTRAINTS
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Part, Violation
from policies.manifests.values import Path, brief
from policies.rule import Parameters, Rule, Severity
from policies.scc.volumes import ALL, NONE, SOURCES
from policies.views.constraints import (
    ALL_CAPABILITIES,
    ALLOWED,
    DEFAULT_ADD,
    HOST_FIELDS,
    REQUIRED_DROP,
    capabilities,
    differing_fields,
    is_tighter,
    shipped,
)

_SWITCHES = (*HOST_FIELDS, "allowPrivilegedContainer", "readOnlyRootFilesystem")
_NULLABLE = (ALLOWED, DEFAULT_ADD, REQUIRED_DROP, "priority", "volumes")


def _scc_required_keys(subject: Obj, _: Inventory, __: Parameters) -> Iterator[Violation]:
    for key in sorted((*_SWITCHES, *_NULLABLE)):
        if key not in subject.tree:
            if not subject.partial:
                yield subject.violation(f"has no {key}", key)
        elif key in _SWITCHES and subject.tree[key] is None:
            yield subject.violation(f"has null for {key}, which is true or false", key)


SCC_REQUIRED_KEYS = Rule(
    name="scc-required-keys",
    what="An SCC has every key that its CRD requires; null is allowed for lists and the priority, not for booleans.",
    why="A client that validates against the CRD, or an API server without OpenShift's defaulting plugin, refuses the "
    "object: `priority: Required value`. The plugin fills in missing keys with the widest value: an SCC without "
    "volumes allows every type. The same is true of nulls, which Pulumi does not send.",
    remedy="Write the key: false for a boolean, [] for a list, 0 for the priority",
    source="platform-facts 1.10, platform-facts 4.3",
    severity=Severity.MANDATORY,
    examine=_scc_required_keys,
    kinds=(SECURITY_CONTEXT_CONSTRAINTS,),
)


_MUST, _RANGE, _ANY = "MustRunAs", "MustRunAsRange", "RunAsAny"
_STRATEGIES: Mapping[str, tuple[str, ...]] = {
    "runAsUser": (_MUST, _RANGE, "MustRunAsNonRoot", _ANY),
    "seLinuxContext": (_MUST, _ANY),
    "fsGroup": (_MUST, _ANY),
    "supplementalGroups": (_MUST, _ANY),
}
_DEFAULTED = frozenset({"fsGroup", "supplementalGroups"})
_VOLUMES = frozenset({*SOURCES.values(), ALL, NONE})


def _scc_known_strategies(subject: Obj, _: Inventory, __: Parameters) -> Iterator[Violation]:
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
    examine=_scc_known_strategies,
    kinds=(SECURITY_CONTEXT_CONSTRAINTS,),
)


def _scc_capabilities_disjoint(subject: Obj, _: Inventory, __: Parameters) -> Iterator[Violation]:
    dropped = capabilities(subject, REQUIRED_DROP)
    if not dropped:
        return
    for field in (ALLOWED, DEFAULT_ADD):
        listed = capabilities(subject, field)
        # To drop ALL and give some is how restricted-v2 is made; to give ALL and drop some is refused.
        if ALL_CAPABILITIES in listed:
            names = ", ".join(dropped)[:200]
            yield subject.violation(
                f"gives every capability in {field} and requires {names} to be dropped", REQUIRED_DROP
            )
            continue
        for name in sorted(listed.keys() & dropped.keys()):
            yield subject.violation(f"lists {name} in {field} and in {REQUIRED_DROP}", field, listed[name])


SCC_CAPABILITIES_DISJOINT = Rule(
    name="scc-capabilities-disjoint",
    what="No capability is both in an SCC's allowedCapabilities or defaultAddCapabilities and in its "
    "requiredDropCapabilities; an SCC that gives all capabilities requires none to be dropped.",
    why="OpenShift refuses such an SCC (capability is listed in allowedCapabilities and requiredDropCapabilities). The "
    "CRD does not check this, so a dry run elsewhere passes.",
    remedy="Keep each capability in one of the lists; drop ALL and allow the few that are needed",
    source="platform-facts 1.10, platform-facts 4.3",
    severity=Severity.MANDATORY,
    examine=_scc_capabilities_disjoint,
    kinds=(SECURITY_CONTEXT_CONSTRAINTS,),
)


def _scc_shipped_unchanged(subject: Obj, _: Inventory, __: Parameters) -> Iterator[Violation]:
    bases = [
        base for release in ("4.4", "current", "upgraded") if (base := shipped(release).get(subject.name)) is not None
    ]
    for field in min((_wider(subject, base) for base in bases), key=len, default=[]):
        value = subject.read(field)
        text = "absent" if value is None else brief(value)
        yield subject.violation(f"is OpenShift's own SCC, with another {field}: {text}", field)


def _wider(subject: Obj, base: Mapping[str, Any]) -> list[str]:
    """Return the fields that give more than an SCC does; who may use it is a matter of other rules."""
    fields = (field for field in differing_fields(subject.tree, base) if field in subject.tree or not subject.partial)
    return [field for field in fields if field not in ("users", "groups") and not is_tighter(field, subject.tree, base)]


SCC_SHIPPED_UNCHANGED = Rule(
    name="scc-shipped-unchanged",
    what="An SCC with the name of one that OpenShift ships (restricted, restricted-v2, anyuid, privileged, ...) equals "
    "it, whatever its users and groups are. It may be stricter.",
    why="OpenShift binds restricted-v2 to system:authenticated, and its own pods to the others: what the SCC gives is "
    "given to every account of the cluster at once, with no group or binding in any manifest. The next upgrade resets "
    "the SCC, or is blocked by it.",
    remedy="Leave the SCC as OpenShift ships it, and write one of another name, with a Role and RoleBinding",
    source="P-5, platform-facts 1.10; openshift/openshift-docs pull 33416, openshift/origin issue 17453",
    severity=Severity.MANDATORY,
    examine=_scc_shipped_unchanged,
    kinds=(SECURITY_CONTEXT_CONSTRAINTS,),
)
