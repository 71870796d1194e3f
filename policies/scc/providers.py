"""An SCC with what its namespace fills in: user ids, SELinux level, groups.

One SCC that cannot be completed refuses every pod of the namespace, whoever may use it; the plugin prepares all of them
before it reads one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from policies.scc.constraints import MUST_RUN_AS, MUST_RUN_AS_RANGE, NON_ROOT, Constraint, Groups
from policies.scc.defaults import RUN_AS_ANY
from policies.scc.messages import aggregate, quoted
from policies.scc.pods import SELinux
from policies.scc.subjects import Namespace

_WRAP, _UNREADABLE = 2**32, 2**64
_MOST_DIGITS = len(str(_UNREADABLE))

_BLANKS = "\t\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
"""What Go's scanner skips, which is not what str.strip does; the end of a line stops it."""


class InvalidBlock(ValueError):
    """A block that cannot be read; the message is that of Go's scanner, which the plugin passes on."""


class Block(NamedTuple):
    """Ids from `start` to `end`, both included."""

    start: int
    end: int


def block(text: str) -> Block:
    """Read one block; like the plugin's scanner this takes what it needs and leaves the rest of the text alone."""
    separator = "/" if "/" in text else "-"
    start, remainder = _number(text)
    if not remainder:
        raise InvalidBlock("unexpected EOF")
    if not remainder.startswith(separator):
        raise InvalidBlock("input does not match format")
    second, _ = _number(remainder[1:])
    return Block(start, second) if separator == "-" else Block(start, (start + second - 1) % _WRAP)


def _number(text: str) -> tuple[int, str]:
    text = text.lstrip(_BLANKS)
    if text.startswith("\n"):
        raise InvalidBlock("unexpected newline")
    digits = len(text) - len(text.lstrip("0123456789"))
    token, remainder = text[:digits], text[digits:]
    if not token:
        raise InvalidBlock("expected integer" if remainder else "EOF")
    # enough to decide: Python refuses to read thousands of digits, with an error of its own
    value = int(token.lstrip("0")[: _MOST_DIGITS + 1] or "0")
    if value >= _UNREADABLE:
        raise InvalidBlock(f'strconv.ParseUint: parsing "{token}": value out of range')
    if value >= _WRAP:
        raise InvalidBlock(f"unsigned integer overflow on token {token}")
    return value, remainder


UID_RANGE = "openshift.io/sa.scc.uid-range"
LEVEL = "openshift.io/sa.scc.mcs"
SUPPLEMENTAL_GROUPS = "openshift.io/sa.scc.supplemental-groups"

_USER_TYPES = (MUST_RUN_AS, MUST_RUN_AS_RANGE, NON_ROOT, RUN_AS_ANY)
_OTHER_TYPES = (MUST_RUN_AS, RUN_AS_ANY)


class Unprepared(Exception):
    """An SCC or a namespace that the plugin cannot work with; the message is the plugin's."""


@dataclass(frozen=True, slots=True)
class Provider:
    """An SCC ready for pods of one namespace; None stands for a strategy that neither fills nor demands."""

    constraint: Constraint
    uids: tuple[int, int] | None
    selinux: SELinux | None
    fs_group: tuple[tuple[int, int], ...] | None
    groups: tuple[tuple[int, int], ...] | None


def providers(constraints: Sequence[Constraint], namespace: Namespace, required: str = "") -> tuple[Provider, ...]:
    """Complete SCCs for a namespace, in their order; only the one named `wanted` when that is not "".

    Raises Unprepared when there is none, when the namespace lacks what OpenShift allocates to each, or when any of the
    SCCs cannot be completed.
    """
    if required:
        constraints = [constraint for constraint in constraints if constraint.name == required]
        if not constraints:
            raise Unprepared(
                f"failed to retrieve the required SCC {quoted(required)}: "
                f"securitycontextconstraints.security.openshift.io {quoted(required)} not found"
            )
    if not constraints:
        raise Unprepared("no SecurityContextConstraints found in cluster")
    for annotation in (UID_RANGE, LEVEL):
        if annotation not in namespace.annotations:
            raise Unprepared(
                f"error fetching namespace {quoted(namespace.name)}: unable to find annotation {annotation}"
            )
    completed: list[Provider] = []
    faults: list[str] = []
    for constraint in constraints:
        try:
            completed.append(provider(constraint, namespace))
        except Unprepared as error:
            faults.append(str(error))
    if faults:
        raise Unprepared(aggregate(faults))
    return tuple(completed)


def provider(constraint: Constraint, namespace: Namespace) -> Provider:
    """Complete one SCC for a namespace that has a range and a level.

    Raises Unprepared when these cannot be read, or when the SCC itself cannot be worked with.
    """
    place = f"for namespace {namespace.name} while trying to configure SCC {constraint.name}"
    uids, selinux = (constraint.uid_min, constraint.uid_max), constraint.selinux
    if constraint.user_type == MUST_RUN_AS_RANGE and uids == (None, None):
        uids = _uids(namespace, place)
    if constraint.selinux_type == MUST_RUN_AS and (selinux is None or not selinux.level):
        selinux = (selinux or SELinux("", "", "", ""))._replace(level=_level(namespace, place))
    fs_group, groups = constraint.fs_group, constraint.supplemental_groups
    if fs_group.type == MUST_RUN_AS and not fs_group.ranges:
        first = _blocks(namespace, place)[0].start
        fs_group = Groups(MUST_RUN_AS, ((first, first),))
    if groups.type == MUST_RUN_AS and not groups.ranges:
        groups = Groups(MUST_RUN_AS, tuple(_blocks(namespace, place)))
    fault = _fault(constraint, uids)
    if fault:
        raise Unprepared(f"error creating provider for SCC {constraint.name} in namespace {namespace.name}: {fault}")
    return Provider(
        constraint=constraint,
        uids=_range(constraint, uids),
        selinux=selinux if constraint.selinux_type == MUST_RUN_AS else None,
        fs_group=fs_group.ranges if fs_group.type == MUST_RUN_AS else None,
        groups=groups.ranges if groups.type == MUST_RUN_AS else None,
    )


def _fault(constraint: Constraint, uids: tuple[int | None, int | None]) -> str | None:
    """Return what keeps a strategy from being made, in the plugin's words and order."""
    kind = constraint.user_type
    faults = (
        (kind not in _USER_TYPES, f"Unrecognized RunAsUser strategy type {kind}"),
        (kind == MUST_RUN_AS and constraint.uid is None, "MustRunAs requires a UID"),
        (kind == MUST_RUN_AS_RANGE and uids[0] is None, "MustRunAsRange requires a UIDRangeMin"),
        (kind == MUST_RUN_AS_RANGE and uids[1] is None, "MustRunAsRange requires a UIDRangeMax"),
        *(
            (strategy not in _OTHER_TYPES, f"Unrecognized {field} strategy type {strategy}")
            for field, strategy in (
                ("SELinuxContext", constraint.selinux_type),
                ("FSGroup", constraint.fs_group.type),
                ("SupplementalGroups", constraint.supplemental_groups.type),
            )
        ),
    )
    return next((words for applies, words in faults if applies), None)


def _range(constraint: Constraint, uids: tuple[int | None, int | None]) -> tuple[int, int] | None:
    first, last = (constraint.uid, constraint.uid) if constraint.user_type == MUST_RUN_AS else uids
    if constraint.user_type not in (MUST_RUN_AS, MUST_RUN_AS_RANGE) or first is None or last is None:
        return None
    return first, last


def _uids(namespace: Namespace, place: str) -> tuple[int, int]:
    try:
        return block(_filled(namespace, UID_RANGE))
    except InvalidBlock as error:
        raise Unprepared(f"unable to find pre-allocated uid annotation {place}: {error}") from None


def _level(namespace: Namespace, place: str) -> str:
    try:
        return _filled(namespace, LEVEL)
    except InvalidBlock as error:
        raise Unprepared(f"unable to find pre-allocated mcs annotation {place}: {error}") from None


def _filled(namespace: Namespace, annotation: str) -> str:
    value = namespace.annotations[annotation]
    if not value:
        raise InvalidBlock(f"found annotation {annotation} but it was empty")
    return value


def _blocks(namespace: Namespace, place: str) -> list[Block]:
    """Return the groups of the namespace; without an annotation of their own they are its user ids."""
    annotations = namespace.annotations
    try:
        groups = annotations[SUPPLEMENTAL_GROUPS if SUPPLEMENTAL_GROUPS in annotations else UID_RANGE]
        if not groups:
            raise InvalidBlock(f"unable to find groups using {SUPPLEMENTAL_GROUPS} and {UID_RANGE} annotations")
        return [block(segment) for segment in groups.split(",")]
    except InvalidBlock as error:
        raise Unprepared(f"unable to find pre-allocated group annotation {place}: {error}") from None
