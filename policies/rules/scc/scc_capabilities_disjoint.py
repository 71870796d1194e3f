"""No capability of an SCC is both given and taken away."""

from collections.abc import Iterator

from core.apis.kinds import SECURITY_CONTEXT_CONSTRAINTS
from policies.findings import Severity
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.rule import Parameters, Rule
from policies.views.constraints import ALL, ALLOWED, DEFAULT_ADD, REQUIRED_DROP, capabilities


def _examine(subject: Obj, _: Inventory, __: Parameters) -> Iterator[Violation]:
    dropped = capabilities(subject, REQUIRED_DROP)
    if not dropped:
        return
    for field in (ALLOWED, DEFAULT_ADD):
        listed = capabilities(subject, field)
        # To drop ALL and give some is how restricted-v2 is made; to give ALL and drop some is refused.
        if ALL in listed:
            names = ", ".join(dropped)[:200]
            yield subject.violation(
                f"gives every capability in {field} and requires {names} to be dropped", REQUIRED_DROP
            )
            continue
        for name in sorted(listed.keys() & dropped.keys()):
            yield subject.violation(f"lists {name} in {field} and in {REQUIRED_DROP}", field, listed[name])


SCC_CAPABILITIES_DISJOINT = Rule(
    name="scc-capabilities-disjoint",
    what="No capability is both in an SCC's allowedCapabilities or defaultAddCapabilities and in its "
    "requiredDropCapabilities; an SCC that gives all capabilities requires none to be dropped.",
    why="OpenShift refuses such an SCC (capability is listed in allowedCapabilities and requiredDropCapabilities). The "
    "CRD does not check this, so a dry run elsewhere passes.",
    remedy="Keep each capability in one of the lists; drop ALL and allow the few that are needed",
    source="platform-facts 1.10, platform-facts 4.3",
    severity=Severity.MANDATORY,
    parameters=Parameters,
    examine=_examine,
    kinds=(SECURITY_CONTEXT_CONSTRAINTS,),
)
