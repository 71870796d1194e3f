"""The pods to judge: those of the files, or what the workloads in them make."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.pods import Pod
from policies.manifests.train_jobs import runtime_named
from policies.scc import Namespace, User, service_account
from policies.scc.subjects import AUTHENTICATED
from policies.views.accounts import account_of, without_scc
from policies.views.admission_fields import pruned
from policies.views.namespaces import STAND_IN, allocation
from toolkit.cli.scc.cluster import Cluster, PodRequest

_SOMEWHERE = "example"
"""The namespace of a pod that names none: an ordinary one, since no one means `default`, where no SCC is evaluated."""


@dataclass(frozen=True)
class PodOptions:
    """Options for all pods: empty or None leaves it to each pod."""

    namespace: str = ""
    account: str = ""
    user: str = ""
    groups: tuple[str, ...] = ()
    annotations: Mapping[str, str] = field(default_factory=dict)


def pod_requests(objects: Iterable[Mapping[str, Any]], cluster: Cluster, options: PodOptions) -> Iterator[PodRequest]:
    """Yield each pod of the objects as the cluster would hand it to the plugin."""
    for subject in Inventory(map(Obj, objects)).objects:
        for pod in subject.pods:
            yield _pod_request(subject, pod, cluster, options)


def _pod_request(subject: Obj, pod: Pod, cluster: Cluster, options: PodOptions) -> PodRequest:
    named = options.namespace or subject.namespace
    name, account = named or _SOMEWHERE, options.account or account_of(pod)
    namespace = cluster.namespaces.get(name)
    labels = namespace.mapping("metadata", "labels") if namespace else {}
    annotations = {**(namespace.mapping("metadata", "annotations") if namespace else {}), **options.annotations}
    present = {key: value for key, value in annotations.items() if value is not None}
    examples = {key: value for key, value in STAND_IN.items() if key not in present}
    return PodRequest(
        title=f"{subject}{f', {pod.role}' if pod.role else _without_runtime(subject)}",
        namespace=Namespace(name, {**examples, **present}, labels),
        account=account,
        user=_user(name, account, options),
        pod=_pod(subject, pod, name, account),
        examples=examples,
        open=allocation(present).open,
        nameless=not named,
        exempt=without_scc(name, labels),
    )


def _without_runtime(subject: Obj) -> str:
    """Return what a TrainJob is judged without, where its runtime is not among the files."""
    missing = subject.trains and any(value.decided_by for value in subject.unknown)
    return f" without {runtime_named(subject.tree)}, which is not among the files" if missing else ""


def _pod(subject: Obj, pod: Pod, namespace: str, account: str) -> Mapping[str, Any]:
    metadata = dict(pod.metadata.tree)
    if pod.metadata.path != ("metadata",):  # a template: its pods get names of their own
        metadata["generateName"] = f"{subject.name}-"
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {**metadata, "namespace": namespace},
        "spec": {**(pruned(pod.tree) if subject.unknown else pod.tree), "serviceAccountName": account},
    }


def _user(namespace: str, account: str, options: PodOptions) -> User:
    """Return who asks: the named user with the group that authentication adds, else the pod's own account."""
    if not options.user:
        return service_account(namespace, account)
    return User(options.user, tuple(dict.fromkeys((*options.groups, AUTHENTICATED))))
