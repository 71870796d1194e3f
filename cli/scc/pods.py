"""The pods to judge: those of the files, or what the workloads in them make."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from cli.scc.cluster import Asked, Cluster
from policies.objects import Obj, Pod
from policies.scc import Namespace, User, service_account
from policies.scc.subjects import AUTHENTICATED

_FALLBACK = "default"
"""Of namespaces and of service accounts: what a cluster takes when none is named."""


class Unknown(Exception):
    """Something that is needed to judge a pod is not among the files; the message says what and how to give it."""


@dataclass(frozen=True)
class Wanted:
    """What the user says of all pods: empty or None leaves it to each pod."""

    namespace: str = ""
    account: str = ""
    user: str = ""
    groups: tuple[str, ...] = ()
    annotations: Mapping[str, str] = field(default_factory=dict)


def asked(objects: Iterable[Mapping[str, Any]], cluster: Cluster, wanted: Wanted) -> Iterator[Asked]:
    """Yield each pod of the objects as the cluster would hand it to the plugin; raises Unknown."""
    for tree in objects:
        subject = Obj(tree)
        for pod in subject.pods:
            yield _asked(subject, pod, cluster, wanted)


def _asked(subject: Obj, pod: Pod, cluster: Cluster, wanted: Wanted) -> Asked:
    name = wanted.namespace or subject.namespace or _FALLBACK
    account = wanted.account or pod.service_account or _FALLBACK
    return Asked(
        title=f"{subject}{f', {pod.role}' if pod.role else ''}",
        namespace=_namespace(name, cluster, wanted.annotations),
        account=account,
        user=_user(name, account, wanted),
        pod=_pod(subject, pod, name, account),
    )


def _pod(subject: Obj, pod: Pod, namespace: str, account: str) -> Mapping[str, Any]:
    metadata = dict(pod.metadata.tree)
    if pod.metadata.path != ("metadata",):  # a template: its pods get names of their own
        metadata["generateName"] = f"{subject.name}-"
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {**metadata, "namespace": namespace},
        "spec": {**pod.tree, "serviceAccountName": account},
    }


def _user(namespace: str, account: str, wanted: Wanted) -> User:
    """Return who asks: the named user with the group that authentication adds, else the pod's own account."""
    if not wanted.user:
        return service_account(namespace, account)
    return User(wanted.user, tuple(dict.fromkeys((*wanted.groups, AUTHENTICATED))))


def _namespace(name: str, cluster: Cluster, more: Mapping[str, str]) -> Namespace:
    known = cluster.annotations(name)
    if known is None and not more:
        raise Unknown(
            f"namespace {name} is not among the files, so its ids are not known\n"
            f"Add it (`oc get namespace {name} -o yaml`) with --sccs, or name its annotations with "
            "--annotation openshift.io/sa.scc.uid-range=... --annotation openshift.io/sa.scc.mcs=..."
        )
    return Namespace(name, {**(known or {}), **more})
