"""An SCC admits the pods of every template."""

from collections.abc import Iterator

from policies.findings import Severity
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.manifests.pods import Pod
from policies.rule import Rule
from policies.views.accounts import account_of, exempt
from policies.views.admission import admission, hidden
from policies.views.admitted_pods import Admitting, missing_objects


def _examine(subject: Obj, inventory: Inventory, parameters: Admitting) -> Iterator[Violation]:
    if subject.partial:  # the rest of the pod is not there
        return
    for pod in subject.pods:
        yield from _pod(pod, inventory, parameters)


def _pod(pod: Pod, inventory: Inventory, parameters: Admitting) -> Iterator[Violation]:
    owner = pod.object
    namespace, account = owner.text("metadata", "namespace"), account_of(pod)
    if owner.unknown:
        for value in hidden(pod):
            owner.depends_on(value.path)
        if owner.hidden("metadata", "namespace") or pod.hidden("serviceAccountName"):
            return
    if exempt(inventory, namespace):
        return
    predicted = inventory.once(admission(parameters.release))
    outcome, allocation = predicted.of(pod, namespace, account)
    if not outcome.message:
        return
    if outcome.elsewhere:
        if not outcome.elsewhere.message:
            undecided = pod.unverified if allocation is not None and allocation.hidden else pod.unlinked
            unspecified = f"{namespace} does not say which" if namespace else "no namespace says which"
            yield undecided(f"asks for ids or an SELinux level, and {unspecified} it has", *outcome.place)
            return
        outcome = outcome.elsewhere  # without complaints about ids that stand in for the real ones
    place, lacking = outcome.place, missing_objects(pod, account, inventory, predicted, allocation)
    refused = f"its pods are refused under the account {account}: {outcome.message}"
    if lacking:
        yield pod.unlinked(f"{lacking}, and without it {refused}", *place)
    elif predicted.accounts.uncertain:
        yield pod.unverified(f"with what is known {refused}", *place)
    else:
        yield pod.violation(refused, *place)


SCC_ADMITS = Rule(
    name="scc-admits",
    what="An SCC admits the pods of every template in its namespace and under its account, as OpenShift would decide.",
    why="The API server accepts a Job, an MPIJob or a Deployment whose pods it will refuse. No pod appears; the reason "
    "is only in an event of the controller (unable to validate against any security context constraint), which is gone "
    "an hour later.",
    remedy="Ask for less, or set serviceAccountName to an account that is bound to the right SCC; `./hpc scc explain` "
    "shows all SCCs",
    source="E-13, E-17, E-26, R-3.4.3-6, platform-facts 1.10",
    severity=Severity.MANDATORY,
    parameters=Admitting,
    examine=_examine,
    links=True,
)
