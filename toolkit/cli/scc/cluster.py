"""The cluster that a pod is judged against: SCCs, namespaces and RBAC, as far as files have them, else as shipped."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from core.apis.kinds import NAMESPACE, SECURITY_CONTEXT_CONSTRAINTS
from core.apis.names import SCC_MCS, SCC_SUPPLEMENTAL_GROUPS, SCC_UID_RANGE
from policies.manifests.objects import Obj
from policies.manifests.values import Path
from policies.scc import (
    NOT_USABLE,
    USABLE_BY_ALL,
    Namespace,
    Release,
    User,
    Verdict,
    admit,
    default_sccs,
    order,
    running_as,
)
from policies.scc.constraints import ordered
from policies.scc.rbac import Rbac
from policies.scc.shipped import shipped_roles
from policies.scc.subjects import AUTHENTICATED
from policies.views.accounts import ids, undecided
from policies.views.admission import freed
from toolkit.cli.scc.remedies import LeastScc, least_scc, left_out

_EXAMPLE = "1000680000/10000"
# Annotation -> whether a value of it can be read, and one that can.
_FORMS: Mapping[str, tuple[Callable[[str], bool], str]] = {
    SCC_UID_RANGE: (lambda value: ids(value) is not None, _EXAMPLE),
    SCC_SUPPLEMENTAL_GROUPS: (lambda value: all(ids(part) is not None for part in value.split(",")), _EXAMPLE),
    SCC_MCS: (bool, "s0:c26,c15"),
}
_ALWAYS_THERE = "restricted"
"""An SCC that every cluster has: files that hold it are a cluster's SCCs, others are some to add."""


class WrongArgument(Exception):
    """An argument that cannot be meant; the message names it and lists the valid ones."""


def annotations(options: Iterable[str]) -> dict[str, str]:
    """Return annotations written as KEY=VALUE; raises WrongArgument."""
    by_key: dict[str, str] = {}
    for pair in options:
        key, sign, value = pair.partition("=")
        if not sign or not key:
            raise WrongArgument(f"--annotation {pair}: write KEY=VALUE, e.g. {SCC_UID_RANGE}={_EXAMPLE}")
        readable, example = _FORMS.get(key, (None, ""))
        if readable is not None and not readable(value):
            raise WrongArgument(f"--annotation {key}: {value!r} cannot be read; write it like {example}")
        by_key[key] = value
    return by_key


def usable_sccs(requested: Iterable[str], names: Collection[str]) -> frozenset[str]:
    """Return the SCCs that are to be usable, which are among `names`; raises WrongArgument."""
    usable_names = frozenset(requested)
    if lost := sorted(usable_names.difference(names)):
        raise WrongArgument(f"--usable {lost[0]}: no such SCC; known: {', '.join(sorted(names))}")
    return usable_names


@dataclass(frozen=True)
class PodRequest:
    """One pod to judge: `title` names its owner, `pod` is as the cluster hands it to the plugin, account and all.

    `examples` are the annotations of the namespace that stand in for what is not known, and `open` the fields of
    security contexts that they decide. `nameless`: the namespace itself stands in for one that no one named,
    `exempt`: OpenShift evaluates no SCC there.
    """

    title: str
    namespace: Namespace
    account: str
    user: User
    pod: Mapping[str, Any]
    examples: Mapping[str, str] = field(default_factory=dict)
    open: frozenset[str] = frozenset()
    nameless: bool = False
    exempt: bool = False


@dataclass(frozen=True)
class Explained:
    """A pod and what becomes of it; `order` is that in which the SCCs are tried, `source` is where they are from.

    Of a refused pod, `fitting` are the SCCs that would take it if they were usable, the least wide first, of which
    `privileged` allow privileged containers; `elsewhere` is the one that would take it if the namespace had the ids
    that the pod asks for, "" for none, and `missing` what could let its account do more and is not among the files.
    `left_out` is a usable SCC with the fields without which it would take the pod, `least` an SCC with just what the
    pod asks for.
    """

    request: PodRequest
    verdict: Verdict
    order: tuple[str, ...]
    source: str
    fitting: tuple[str, ...] = ()
    elsewhere: str = ""
    missing: str = ""
    privileged: frozenset[str] = frozenset()
    left_out: tuple[str, tuple[Path, ...]] | None = None
    least: LeastScc | None = None

    @property
    def unusable(self) -> frozenset[str]:
        """The SCCs that neither the account nor the requesting user may use, of those that were tried."""
        return frozenset(reason.scc for reason in self.verdict.reasons if reason.message.endswith(NOT_USABLE))


class Cluster:
    """SCCs, namespaces and RBAC. `usable` are SCCs that are taken to be granted to the requesting user.

    Raises WrongArgument when one of these does not exist, and InvalidPod for an SCC whose fields have wrong types.
    """

    def __init__(self, objects: Iterable[Mapping[str, Any]], release: Release, usable: Iterable[str] = ()) -> None:
        subjects = [Obj(tree) for tree in objects]
        declared = {subject.name: subject.tree for subject in subjects if _is(subject, SECURITY_CONTEXT_CONSTRAINTS)}
        shipped = {} if _ALWAYS_THERE in declared else {scc["metadata"]["name"]: scc for scc in default_sccs(release)}
        self.sccs: Mapping[str, Mapping[str, Any]] = {**shipped, **declared}
        self.source = f"OpenShift release {release}" if shipped else "the files"
        self.namespaces = {subject.name: subject for subject in subjects if _is(subject, NAMESPACE)}
        self._rbac = Rbac((subject.tree for subject in subjects), shipped_roles(release))
        self._usable = usable_sccs(usable, self.sccs.keys())
        self._by_all = USABLE_BY_ALL[release] & self.sccs.keys()

    def explain(self, request: PodRequest) -> Explained:
        """Judge one pod."""
        if request.exempt:
            return Explained(request, Verdict(True, None, request.pod, (), ""), (), self.source)
        namespace, names = request.namespace.name, self.sccs.keys()
        account = running_as(namespace, request.account)
        own = self._usable | self._rbac.usable(account, namespace, names)
        both = own | self._rbac.usable(request.user, namespace, names)
        if AUTHENTICATED in request.user.groups:
            both |= self._by_all
        every = [*self.sccs.values()]
        verdict = admit(request.pod, request.namespace, request.user, every, both, usable_by_account=own)
        explained = Explained(request, verdict, order(every), self.source)
        if verdict.admitted:
            return explained
        freely = admit(freed(request.pod, request.open), request.namespace, request.user, every, both)
        usable = [self.sccs[name] for name in explained.order if name not in explained.unusable]
        return replace(
            explained,
            fitting=tuple(self._fitting(explained)),
            privileged=frozenset(name for name, scc in self.sccs.items() if scc.get("allowPrivilegedContainer")),
            elsewhere=freely.scc or "",
            missing=undecided(self._rbac, account, namespace, names),
            left_out=left_out(request.pod, usable, partial(_admits, request)),
            least=least_scc(f"{namespace}-{request.account}", request.pod, usable, partial(_admits, request)),
        )

    def _fitting(self, explained: Explained) -> Iterable[str]:
        request = explained.request
        for name in sorted(explained.unusable, key=lambda scc: _width(self.sccs[scc])):
            if _admits(request, request.pod, self.sccs[name]):
                yield name


def _admits(request: PodRequest, pod: Mapping[str, Any], scc: Mapping[str, Any]) -> bool:
    """Return whether an SCC would admit a pod in the place of the requested one, if it were usable."""
    return admit(pod, request.namespace, request.user, [scc], {scc["metadata"]["name"]}).admitted


def _width(scc: Mapping[str, Any]) -> tuple[int, str]:
    (ranked,) = ordered([scc])
    return ranked.points, ranked.name


def _is(subject: Obj, kind: Any) -> bool:
    return (subject.group, subject.kind) == (kind.group, kind.kind)
