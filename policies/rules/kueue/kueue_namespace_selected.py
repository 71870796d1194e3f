"""A queue's namespace is one from which its ClusterQueue takes jobs."""

from collections.abc import Iterator

from core.apis.kinds import CLUSTER_QUEUE, LOCAL_QUEUE, NAMESPACE
from core.apis.names import NAMESPACE_NAME
from policies.findings import Severity
from policies.manifests.inventory import Inventory
from policies.manifests.label_selectors import is_empty, selects
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.manifests.values import Path, Tree, is_mapping, read
from policies.rule import Parameters, Rule

_CLUSTER_QUEUE: Path = ("spec", "clusterQueue")
_SELECTOR: Path = ("spec", "namespaceSelector")
_LABELS: Path = ("metadata", "labels")


def _examine(subject: Obj, inventory: Inventory, _: Parameters) -> Iterator[Violation]:
    queue = inventory.get(CLUSTER_QUEUE, subject.text(*_CLUSTER_QUEUE))
    if queue is None:
        return  # kueue-covers-resources reports it for each job
    selector = queue.read(*_SELECTOR)
    namespace = inventory.get(NAMESPACE, subject.namespace)
    if queue.hidden(*_SELECTOR) or (namespace is not None and namespace.hidden(*_LABELS)):
        message = f"the namespaces of ClusterQueue {queue.name} are unknown until the update"
        yield subject.unverified(message, *_CLUSTER_QUEUE)
    elif selector is None:
        yield subject.violation(f"ClusterQueue {queue.name} has no namespaceSelector", *_CLUSTER_QUEUE)
    elif subject.namespace and not is_empty(selector):
        labels = {**(namespace.mapping(*_LABELS) if namespace else {}), NAMESPACE_NAME: subject.namespace}
        if selects(selector, labels):
            return
        message = f"the namespaceSelector of ClusterQueue {queue.name} does not select {subject.namespace}"
        if namespace is not None or _by_name(selector):
            yield subject.violation(message, *_CLUSTER_QUEUE)
        else:
            yield subject.unlinked(f"{message} by its name, and its labels are not among the objects", *_CLUSTER_QUEUE)


def _by_name(selector: Tree) -> bool:
    """Return whether a selector looks at no other label than that of the namespace's name."""
    labels, expressions = read(selector, "matchLabels"), read(selector, "matchExpressions")
    keys = {*labels} if is_mapping(labels) else set()
    keys.update(str(read(expression, "key")) for expression in (expressions if isinstance(expressions, list) else ()))
    return keys <= {NAMESPACE_NAME}


KUEUE_NAMESPACE_SELECTED = Rule(
    name="kueue-namespace-selected",
    what="The namespaceSelector of a LocalQueue's ClusterQueue selects the LocalQueue's namespace.",
    why="Kueue never admits a job from a namespace that its ClusterQueue does not select (workload namespace doesn't "
    "match ClusterQueue selector): it stays suspended, and nothing fails. Without a namespaceSelector none is "
    "selected; {} selects all.",
    remedy=f"Write a namespaceSelector that selects the namespace, e.g. by the label {NAMESPACE_NAME}, or label the "
    "namespace",
    source="kueue.sigs.k8s.io/docs/concepts/cluster_queue; github.com/kubernetes-sigs/kueue/issues/301",
    severity=Severity.MANDATORY,
    parameters=Parameters,
    examine=_examine,
    kinds=(LOCAL_QUEUE,),
    links=True,
)
