"""What a pod has once SCC admission has filled in what it leaves open: rules about it see what will run."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import Field

from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.pods import Container, Pod
from policies.manifests.values import read
from policies.rule import Parameters
from policies.scc import Release
from policies.views.accounts import Allocation, account_of, built_in_namespace, exempt, exists
from policies.views.admission import Admission, admission, hidden


class Admitting(Parameters):
    """The cluster whose SCCs decide."""

    release: Release = Field(
        default="current",
        description="OpenShift release whose own SCCs exist beside those among the objects: 4.4, current, or upgraded "
        "from before 4.11",
    )


@dataclass(frozen=True)
class Admitted:
    """A pod as it will run: `scc` has completed its `spec`, of which only what admission reads is here.

    `missing` is what is not among the objects and could let another SCC take the pod, empty when it is sure.
    `user_known` says whether the namespace's user ids are known; any stand in for them otherwise.
    """

    pod: Pod
    scc: str
    spec: Mapping[str, Any]
    missing: str
    user_known: bool

    def read(self, container: Container, *keys: str) -> Any:
        """Return a field of a container's security context."""
        siblings = [sibling.path for sibling in self.pod.containers if sibling.group == container.group]
        return read(self.spec, container.group, siblings.index(container.path), "securityContext", *keys)


def admitted_pod(pod: Pod, inventory: Inventory, release: Release) -> Admitted | None:
    """Return a pod as it will run; None where no SCC takes it or is asked, or a value is unknown until the update."""
    namespace, account = pod.object.namespace, account_of(pod)
    if (isinstance(pod.object, Obj) and pod.object.partial) or exempt(inventory, namespace):
        return None
    if pod.object.unknown and (any(hidden(pod)) or not namespace or pod.hidden("serviceAccountName")):
        return None
    predicted = inventory.once(admission(release))
    outcome, allocation = predicted.of(pod, namespace, account)
    if outcome.message or not outcome.scc:
        return None
    absent = missing_objects(pod, account, inventory, predicted, allocation)
    if not absent and predicted.accounts.uncertain:
        absent = "an SCC, a role or a binding is not known"
    return Admitted(pod, outcome.scc, outcome.spec, absent, allocation is not None and bool(allocation.users))


def missing_objects(
    pod: Pod, account: str, inventory: Inventory, predicted: Admission, allocation: Allocation | None
) -> str:
    """Return what is not among the objects and could change the verdict."""
    namespace = pod.object.text("metadata", "namespace")
    if not namespace:
        return "names no namespace"
    if allocation is None and not built_in_namespace(namespace):
        return f"Namespace {namespace} is not among the objects"
    if account == pod.service_account and not exists(inventory, namespace, account):
        return f"ServiceAccount {namespace}/{account} is not among the objects"
    if bound := predicted.accounts.undecided(namespace, account):
        return f"{account} is bound to {bound}, which is not among the objects"
    return ""
