"""`./hpc scc check`: whether the cluster decides on SCCs as the stack declares and as it was predicted."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from components.tenants.mpi_scc import MpiSccArgs
from components.tenants.tenant import ACCOUNT
from core.apis.kinds import POD, SECURITY_CONTEXT_CONSTRAINTS
from core.wording import plural
from policies.manifests.values import read
from policies.scc import service_account
from policies.scc.admission import SCC_ANNOTATION
from stacks.settings.platform import Settings
from toolkit.cli.scc import explanation
from toolkit.cli.scc.cluster import Cluster
from toolkit.cli.scc.cluster import Cluster as Predicted
from toolkit.cli.scc.explanation import PodOptions, pod_requests
from toolkit.cli.shared import identity, session
from toolkit.cli.shared import stack as stacks
from toolkit.cli.shared.console import print_notice, print_text, show_rows, styled

_OTHER = "default"
"""The account of pods that name none: it may use no SCC of the stack."""

_BUILD = "openshift.io/build.name"
"""Label of the pods of builds."""
AGREES, DIFFERS, NOT_ENOUGH = 0, 1, 2
"""Exit statuses."""


class Reviews(Protocol):
    """What answers whether an account may do something."""

    def access(self, user: str, groups: tuple[str, ...], attributes: Mapping[str, str]) -> tuple[bool, str]:
        """Return whether it may, and why."""


@dataclass(frozen=True)
class Right:
    """Whether an account may `use` the SCC of RDMA jobs: by the settings, and by the API server's answer."""

    account: str
    expected: bool
    allowed: bool
    reason: str

    @property
    def agrees(self) -> bool:
        """Whether the cluster has it as the settings have."""
        return self.expected == self.allowed


@dataclass(frozen=True)
class Admitted:
    """A pod of a tenant: the SCC that admitted it, by its annotation, and the predicted one; None: it has none."""

    pod: str
    scc: str | None
    predicted: str | None

    @property
    def agrees(self) -> bool:
        """Whether the prediction holds."""
        return self.scc is not None and self.scc == self.predicted


def rights(settings: Settings, server: Reviews) -> Iterator[Right]:
    """Yield for each tenant the right of its own account and of the default one; none without RDMA."""
    if not settings.uses_rdma:
        return
    scc = MpiSccArgs().scc_name
    for tenant in settings.tenants:
        for account in (ACCOUNT, _OTHER):
            asks = service_account(tenant.namespace, account)
            attributes = {
                "verb": "use",
                "group": SECURITY_CONTEXT_CONSTRAINTS.group,
                "resource": SECURITY_CONTEXT_CONSTRAINTS.plural,
                "name": scc,
                "namespace": tenant.namespace,
            }
            allowed, reason = server.access(asks.name, asks.groups, attributes)
            yield Right(f"{tenant.namespace}/{account}", account == ACCOUNT and tenant.rdma, allowed, reason)


def admitted(pods: Iterable[Mapping[str, Any]], settings: Settings, predicted: Predicted) -> Iterator[Admitted]:
    """Yield the tenants' pods with the SCC of their annotation and the one that was predicted.

    Pods of OpenShift's builds are left out: its controller creates them, with a right of its own.
    """
    tenants = {tenant.namespace for tenant in settings.tenants}
    for pod in pods:
        if read(pod, "metadata", "namespace") not in tenants or read(pod, "metadata", "labels", _BUILD):
            continue
        scc = read(pod, "metadata", "annotations", SCC_ANNOTATION)
        # Objects of a list have neither.
        whole = {"apiVersion": "v1", "kind": "Pod", **pod}
        for request in pod_requests([whole], predicted, PodOptions()):
            name = f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"
            yield Admitted(name, scc, predicted.explain(request).verdict.scc)


def compare(stack_name: str, name: str | None) -> int:
    """Print what the cluster answers beside what was declared and predicted; return the exit status."""
    stack = stacks.read(stack_name, name)
    served = session.cluster(stack)
    identity.warn_if_foreign(stack, served)
    objects, release = explanation.of_stack(stack_name)
    predicted = Cluster(objects, explanation.known_release(release))
    of_accounts = [*rights(stack.settings, served)]
    pods = [*admitted(served.list(POD), stack.settings, predicted)]
    _show(of_accounts, pods)
    return exit_status(of_accounts, pods)


def exit_status(rights: Sequence[Right], pods: Sequence[Admitted]) -> int:
    """Return what a comparison ends with."""
    if not (all(right.agrees for right in rights) and all(pod.agrees for pod in pods)):
        return DIFFERS
    return AGREES if pods else NOT_ENOUGH


def _show(rights: Sequence[Right], pods: Sequence[Admitted]) -> None:
    rows = (
        (
            right.account,
            _may(right.expected),
            _may(right.allowed) if right.agrees else styled(_may(right.allowed), "red"),
        )
        for right in rights
    )
    if rights:
        show_rows("Use of the SCC of RDMA jobs", ("account", "declared", "on the cluster"), rows)
    for scc, count in sorted(Counter(pod.scc for pod in pods if pod.agrees).items()):
        print_text(f"{scc}: admitted {plural(count, 'pod')}, as predicted")
    for pod in pods:
        if not pod.agrees:
            admitted_by, other = pod.scc or "no SCC", pod.predicted or "none would"
            print_text(f"{pod.pod}: admitted by {admitted_by}, predicted: {other}")
    if not pods:
        print_notice("the tenants have no pods; run a job, and the command again")


def _may(allowed: bool) -> str:
    return "may" if allowed else "may not"
