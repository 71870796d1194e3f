"""The cluster that a pod is judged against: its SCCs, namespaces and RBAC, as far as files say, else as shipped."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from apis.kinds import NAMESPACE, SECURITY_CONTEXT_CONSTRAINTS
from policies.objects import Obj
from policies.rbac import Rbac
from policies.scc import USABLE_BY_ALL, Namespace, Release, User, Verdict, admit, default_sccs, order, running_as
from policies.scc.stored import stored
from policies.scc.subjects import AUTHENTICATED

_ALWAYS_THERE = "restricted"
"""An SCC that every cluster has: files that hold it are a cluster's SCCs, others are some to add."""


@dataclass(frozen=True)
class Asked:
    """One pod to judge: `title` says whose it is, `pod` is as the cluster hands it to the plugin, account and all."""

    title: str
    namespace: Namespace
    account: str
    user: User
    pod: Mapping[str, Any]


@dataclass(frozen=True)
class Explained:
    """A pod and what becomes of it; `order` is that in which the SCCs are tried."""

    asked: Asked
    verdict: Verdict
    order: tuple[str, ...]


class Cluster:
    """SCCs, namespaces and RBAC. `usable` are SCCs that are taken to be granted to whoever asks."""

    def __init__(self, objects: Iterable[Mapping[str, Any]], release: Release, usable: Collection[str] = ()) -> None:
        found = [Obj(tree) for tree in objects]
        given = {each.name: stored(each.tree) for each in found if _is(each, SECURITY_CONTEXT_CONSTRAINTS)}
        shipped = {} if _ALWAYS_THERE in given else {scc["metadata"]["name"]: scc for scc in default_sccs(release)}
        self.sccs: Sequence[Mapping[str, Any]] = [*{**shipped, **given}.values()]
        self.namespaces = {each.name: each for each in found if _is(each, NAMESPACE)}
        self._names = {scc["metadata"]["name"] for scc in self.sccs}
        self._rbac = Rbac(each.tree for each in found)
        self._usable = frozenset(usable)
        self._by_all = USABLE_BY_ALL[release] & self._names

    def annotations(self, namespace: str) -> Mapping[str, str] | None:
        """Return the annotations of a namespace, None when it is not known."""
        found = self.namespaces.get(namespace)
        return None if found is None else found.mapping("metadata", "annotations")

    def explain(self, asked: Asked) -> Explained:
        """Judge one pod."""
        namespace = asked.namespace.name
        account = running_as(namespace, asked.account)
        own = self._usable | self._rbac.usable(account, namespace, self._names)
        both = own | self._rbac.usable(asked.user, namespace, self._names)
        if AUTHENTICATED in asked.user.groups:
            both |= self._by_all
        verdict = admit(asked.pod, asked.namespace, asked.user, self.sccs, both, usable_by_account=own)
        return Explained(asked, verdict, order(self.sccs))


def _is(each: Obj, kind: Any) -> bool:
    return (each.group, each.kind) == (kind.group, kind.kind)
