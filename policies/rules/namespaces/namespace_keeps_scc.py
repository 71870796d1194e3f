"""No namespace of a tenant opts out of SCC admission."""

from collections.abc import Iterator

from core.apis.kinds import NAMESPACE
from core.apis.names import RUN_LEVEL, RUN_LEVELS_WITHOUT_SCC, SCC_DISABLED
from policies.findings import Severity
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.rule import Rule
from policies.views.tenants import TENANTS, Tenancy, in_one_of

_LABELS = ("metadata", "labels")


def _examine(subject: Obj, _: Inventory, parameters: Tenancy) -> Iterator[Violation]:
    level, disabled = subject.read(*_LABELS, RUN_LEVEL), subject.read(*_LABELS, SCC_DISABLED)
    if in_one_of(subject.name, parameters.exempt_namespaces) or parameters.excepts(subject):
        return
    if str(level) in RUN_LEVELS_WITHOUT_SCC:
        yield subject.violation(f"has run level {level}, in which OpenShift evaluates no SCC", *_LABELS, RUN_LEVEL)
    if str(disabled).lower() == "true":
        yield subject.violation("has the label by which OpenShift evaluates no SCC", *_LABELS, SCC_DISABLED)


NAMESPACE_KEEPS_SCC = Rule(
    name="namespace-keeps-scc",
    what=f"No namespace outside the infrastructure has the label {RUN_LEVEL} set to 0 or 1, or "
    f"{SCC_DISABLED} set to true.",
    why="In such a namespace OpenShift skips SCC admission: every pod may be privileged, whatever its account may use, "
    "and no user id, SELinux level or seccomp profile is filled in.",
    remedy=f"Delete the label; {TENANTS}",
    source="E-17, platform-facts 1.10; openshift/kubernetes, admission/namespaceconditions and admissionenablement",
    severity=Severity.MANDATORY,
    parameters=Tenancy,
    examine=_examine,
    kinds=(NAMESPACE,),
)
