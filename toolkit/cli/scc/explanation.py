"""From files and a stack to the pods to judge, and to verdicts."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, get_args

from policies.manifests.documents import Aliases, NotReadable, documents
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.objects import objects as opened_objects
from policies.manifests.pods import Pod
from policies.manifests.train_jobs import runtime_named
from policies.scc import InvalidPod, Namespace, Release, User, service_account
from policies.scc.subjects import AUTHENTICATED
from policies.views.accounts import STAND_IN, account_of, allocation, without_scc
from policies.views.admission import pruned
from toolkit.cli.check.sources import Source, sources
from toolkit.cli.check.texts import chunks, decode
from toolkit.cli.scc.cluster import Cluster, Explained, PodRequest, WrongArgument

_SOMEWHERE = "example"
"""The namespace of a pod that names none: an ordinary one, since no one means `default`, where no SCC is evaluated."""


class Unreadable(Exception):
    """A file that cannot be read; the message names file and line."""


def objects(names: Iterable[str]) -> list[dict[str, Any]]:
    """Return the objects of files, of folders' files and of standard input (`-`), those of Lists one by one."""
    return [obj for source in sources(names) for obj in _read_objects(source)]


def _read_objects(source: Source) -> Iterable[dict[str, Any]]:
    if source.problem:
        raise Unreadable(f"{source.name}: {source.problem}")
    try:
        text = decode(source.content)
    except NotReadable as error:
        raise Unreadable(f"{source.name}: {error}") from None
    aliases, scalars = Aliases.of(text), dict[str, Any]()
    for chunk in chunks(text):
        try:
            for document in documents(chunk.text, aliases, scalars):
                for obj in opened_objects(document.tree):  # what a controller fills in decides nothing here
                    yield pruned(obj.tree) if obj.unknown else dict(obj.tree)
        except NotReadable as error:
            raise Unreadable(f"{source.name}:{chunk.position(error.offset)[0]}: {error}") from None


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


UNREADABLE = (Unreadable, WrongArgument, InvalidPod)
"""What `explain` raises for input that cannot be judged."""


def explain(
    files: Sequence[str],
    sccs: Iterable[str],
    options: PodOptions,
    *,
    stack: str = "",
    release: str | None = None,
    usable: Collection[str] = (),
) -> list[Explained]:
    """Judge every pod of `files` in the cluster that the files, `sccs` and the stack describe.

    `release` is that of the default SCCs, by default the stack's or the current one. `usable` are SCCs that RBAC grants
    besides. Raises one of UNREADABLE.
    """
    subjects = objects(files)
    around = [*objects(sccs)]
    if stack:
        rendered, stacks_release = of_stack(stack)
        around, release = [*rendered, *around], release or stacks_release
    cluster = Cluster([*around, *subjects], known_release(release), usable)
    explanations = [cluster.explain(request) for request in pod_requests(subjects, cluster, options)]
    if not explanations:
        raise Unreadable(f"no pod in {', '.join(files)}: name a Pod, or a workload with a pod template")
    return explanations


def of_stack(name: str) -> tuple[list[dict[str, Any]], str]:
    """Return the objects that a stack declares, with what is beside it, and its release of OpenShift."""
    from stacks.loading import settings  # noqa: PLC0415
    from toolkit.render import manifests  # noqa: PLC0415 - the engine takes half a second to import

    recorded = (*manifests.platform_registrations(name), *manifests.registrations(name))
    return manifests.manifests(recorded), settings.load(name, manifests.ROOT).release


def known_release(name: str | None) -> Release:
    """Return the release whose default SCCs are known, of a name; the current one for others."""
    return next((release for release in get_args(Release) if release == name), "current")
