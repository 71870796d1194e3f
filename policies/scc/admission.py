"""What OpenShift's SecurityContextConstraint admission plugin does with a pod when it is created.

It tries the SCCs in their order, skips those that neither the requester nor the pod's service account may use, and
takes the first that fits once it has filled in what the pod leaves open. Behaviour and words are those of
openshift/apiserver-library-go as of OpenShift 4.22 (`pkg/securitycontextconstraints`).

Pods and SCCs get the API server's defaults in here (`defaults.py`), so that no entry point can
forget them.

Four things differ, on purpose. The volume with the service account's token, which the API server adds to most pods, is
left out; it passes wherever `secret`, `projected` or `*` is allowed. The plugin wants the ten SCCs that every current
cluster has before it decides at all; here any set will do, so that a 4.4 cluster can be judged. The plugin waits ten
seconds for a namespace's annotations; here they are there or not. And it is the first pass that is judged: the second,
which must leave the filled-in pod as it is, finds nothing to change, but for one spelling. Of the seccomp profile
`docker/default`, by annotation or as the first of an SCC, the first pass makes a field and the second an annotation
`runtime/default`, so that another SCC has to take the pod as it is, or the plugin refuses it.
"""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from policies.scc.checks import faults
from policies.scc.constraints import Constraint, ordered
from policies.scc.defaults import defaulted_pod
from policies.scc.fill import filled, written
from policies.scc.messages import aggregate, forbidden, quoted
from policies.scc.pods import Pod, read
from policies.scc.providers import LEVEL, SUPPLEMENTAL_GROUPS, UID_RANGE, Provider, Unprepared, providers
from policies.scc.reading import InvalidPod
from policies.scc.subjects import Namespace, User, is_named, running_as

SCC_ANNOTATION = "openshift.io/scc"
SUBJECT_ANNOTATION = "security.openshift.io/validated-scc-subject-type"
REQUIRED_ANNOTATION = "openshift.io/required-scc"
NOT_USABLE = "not usable by user or serviceaccount"

_RESTRICTED, _RESTRICTED_V2 = "restricted", "restricted-v2"
_WOULD_FIT_RESTRICTED = forbidden(
    "no access to scc/restricted",
    f"the pod fails to validate against the `{_RESTRICTED_V2}` security context constraint, "
    f"but would validate successfully against the `{_RESTRICTED}` security context constraint",
)


@dataclass(frozen=True)
class Reason:
    """Why an SCC did not take a pod, one field error; `scc` is "" for what is not about one SCC."""

    scc: str
    message: str


@dataclass(frozen=True)
class Verdict:
    """What becomes of a pod.

    `pod` has the API server's defaults, and is filled in and annotated, when it is admitted; else it is the one given.
    `reasons` are the refusals of the SCCs in the order in which they were tried; an admitted pod has those of the SCCs
    before the one that took it.
    `message` is the error that the plugin returns, with its `pods "name" is forbidden: ` in front, "" when admitted.
    A Windows pod is admitted without any SCC, as the plugin leaves it alone.
    """

    admitted: bool
    scc: str | None
    pod: Mapping[str, Any]
    reasons: tuple[Reason, ...]
    message: str


def admit(
    pod: Mapping[str, Any],
    namespace: Namespace,
    user: User,
    sccs: Sequence[Mapping[str, Any]],
    usable: Collection[str] = (),
    *,
    usable_by_account: Collection[str] | None = None,
) -> Verdict:
    """Return which of `sccs` admits `pod` when `user` creates it in `namespace`, and what it fills in.

    `usable` names the SCCs that RBAC lets the user or the pod's service account use; an SCC's own `users` and `groups`
    count, too. `usable_by_account` are those that the service account itself may use, for the annotation that says
    through whom the SCC was found; unknown, all of `usable` are taken to be its own.

    Pod and SCCs may be as users write them or as a cluster holds them: the API server's defaults are applied first, so
    a pod without a service account runs as `default`. The given objects are never changed. Raises InvalidPod for a pod,
    namespace or SCC whose fields have wrong types.
    """
    complete = defaulted_pod(pod)
    seen = read(complete)
    if seen.windows:
        return Verdict(admitted=True, scc=None, pod=complete, reasons=(), message="")
    try:
        candidates = _prepared(seen, namespace, sccs)
    except Unprepared as error:
        return _refused(pod, seen, str(error), (Reason("", str(error)),))
    reasons: list[Reason] = []
    denied: list[str] = []
    by_account = usable_by_account
    account = running_as(namespace.name, seen.service_account) if seen.service_account else None
    for candidate in candidates:
        name = candidate.constraint.name
        subject = _subject(candidate.constraint, account, user, usable, usable if by_account is None else by_account)
        if subject is None:
            denied.append(name)
            reasons.append(Reason(name, forbidden(f"provider {quoted(name)}", NOT_USABLE)))
            continue
        result = filled(seen, candidate)
        refusals = [Reason(name, message) for message in faults(result, candidate)]
        if not refusals:
            annotations = {SCC_ANNOTATION: name, SUBJECT_ANNOTATION: subject}
            return Verdict(True, name, written(complete, result, annotations), tuple(reasons), "")
        reasons += refusals
    reasons += _hint(seen, candidates, denied)
    words = aggregate(reason.message for reason in reasons)
    return _refused(pod, seen, f"unable to validate against any security context constraint: {words}", tuple(reasons))


def order(sccs: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """Return the names of SCCs in the order in which the plugin tries them."""
    return tuple(constraint.name for constraint in ordered(sccs))


def _refused(pod: Mapping[str, Any], seen: Pod, words: str, reasons: tuple[Reason, ...]) -> Verdict:
    return Verdict(False, None, pod, reasons, f"pods {quoted(seen.name)} is forbidden: {words}")


def _subject(
    constraint: Constraint, account: User | None, user: User, usable: Collection[str], by_account: Collection[str]
) -> str | None:
    """Return through whom an SCC may be used, the service account first; None when through no one."""
    name, users, groups = constraint.name, constraint.users, constraint.groups
    if account is not None and (name in by_account or is_named(account, users, groups)):
        return "serviceaccount"
    return "user" if name in usable or is_named(user, users, groups) else None


def _hint(seen: Pod, candidates: Sequence[Provider], denied: Collection[str]) -> list[Reason]:
    """Return a hint when only `restricted`, which current clusters no longer grant to all, would admit the pod."""
    by_name = {candidate.constraint.name: candidate for candidate in candidates}
    if _RESTRICTED not in denied or _RESTRICTED_V2 not in by_name:
        return []
    restricted = by_name[_RESTRICTED]
    if any(faults(filled(seen, restricted), restricted)):
        return []
    return [Reason(_RESTRICTED, _WOULD_FIT_RESTRICTED)]


def _prepared(seen: Pod, namespace: Namespace, sccs: Sequence[Mapping[str, Any]]) -> tuple[Provider, ...]:
    """Return the SCCs to try, completed for the namespace; only the one that the pod requires when it does."""
    allocated = tuple((key, _annotation(namespace, key)) for key in (UID_RANGE, LEVEL, SUPPLEMENTAL_GROUPS))
    required = seen.annotations.get(REQUIRED_ANNOTATION, "")
    try:
        content = json.dumps(sccs)
    except (TypeError, ValueError, RecursionError):  # not plain dicts and lists
        return providers(ordered(sccs), Namespace(namespace.name, _present(allocated)), required)
    return _cached(content, namespace.name, allocated, required)


# A batch or a cluster has many pods, fewer namespaces, and few sets of SCCs.
@lru_cache(maxsize=1024)
def _cached(
    content: str, name: str, allocated: tuple[tuple[str, str | None], ...], required: str
) -> tuple[Provider, ...]:
    return providers(_read(content), Namespace(name, _present(allocated)), required)


@lru_cache(maxsize=64)
def _read(content: str) -> tuple[Constraint, ...]:
    return ordered(json.loads(content))


def _present(allocated: Iterable[tuple[str, str | None]]) -> dict[str, str]:
    return {key: value for key, value in allocated if value is not None}


def _annotation(namespace: Namespace, key: str) -> str | None:
    value: object = namespace.annotations.get(key)
    if value is None or isinstance(value, str):
        return value
    raise InvalidPod(f"namespace.annotations[{key}]", "a string", value)
