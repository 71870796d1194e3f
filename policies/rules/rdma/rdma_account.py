"""A pod with RDMA runs under an account that may use an SCC with IPC_LOCK."""

from collections.abc import Iterator

from pydantic import Field

from core.apis.names import IPC_LOCK, RDMA_PREFIX
from policies.findings import Severity
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.manifests.pods import Pod
from policies.rule import Parameters, Rule
from policies.scc import Release
from policies.views.accounts import DEFAULT, Accounts, account_of, accounts, built_in_namespace, exists

_ACCOUNT = "serviceAccountName"


class RdmaAccount(Parameters):
    """Which SCCs exist beside those among the objects."""

    release: Release = Field(default="current", description="OpenShift release whose own SCCs exist")


def _examine(subject: Obj, inventory: Inventory, parameters: RdmaAccount) -> Iterator[Violation]:
    for pod in subject.pods:
        if any(
            request.resource.startswith(RDMA_PREFIX) for container in pod.containers for request in container.requests
        ):
            yield from _pod(pod, inventory, inventory.once(accounts(parameters.release)))


def _pod(pod: Pod, inventory: Inventory, permissions: Accounts) -> Iterator[Violation]:
    namespace, account = pod.object.text("metadata", "namespace"), account_of(pod)
    if account == DEFAULT:
        yield pod.violation("asks for RDMA under the account default, which every other pod has too", _ACCOUNT)
        return
    missing = pod.unverified if permissions.uncertain else pod.unlinked
    if not namespace:
        if not pod.hidden(_ACCOUNT):
            yield pod.unlinked(f"names no namespace, so its account {account} cannot be determined", _ACCOUNT)
    elif not exists(inventory, namespace, account) and not built_in_namespace(namespace):
        yield pod.unlinked(f"runs under ServiceAccount {namespace}/{account}, which is not among the objects", _ACCOUNT)
    else:
        usable = permissions.usable(namespace, account)
        if usable.isdisjoint(permissions.locking):
            allowed = f"{', '.join(sorted(usable))[:200]} only" if usable else "none"
            if bound := permissions.undecided(namespace, account):
                allowed += f"; {bound}, to which it is bound, is not among the objects"
            yield missing(f"runs under {account}, which may use no SCC that allows {IPC_LOCK} ({allowed})", _ACCOUNT)


RDMA_ACCOUNT = Rule(
    name="rdma-account",
    what="A pod that asks for rdma/<name> runs under a service account of its own, which exists and may use an SCC "
    "that allows IPC_LOCK.",
    why="The pod adds IPC_LOCK, and no SCC that every account may use allows that. Its controller cannot create it "
    "(unable to validate against any security context constraint: capability may not be added), and the job hangs "
    "with no pod to inspect.",
    remedy="Name the tenant's account mpi in serviceAccountName, and bind it to a Role that may use scc-for-mpi",
    source="R-3.4.3-3, R-3.4.3-6, R-3.4.3-7, E-26, P-1, platform-facts 4.3",
    severity=Severity.MANDATORY,
    parameters=RdmaAccount,
    examine=_examine,
    links=True,
)
