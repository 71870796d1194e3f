"""InstallPlans of OLM: approved, carried out, or failed for ever."""

from core.apis import kinds
from policies.manifests.values import read
from toolkit.cli.shared import metadata
from toolkit.cli.shared.preflight.operator_conflicts import approval
from toolkit.cli.up.waits.verdict import DONE, Look, Object, Rule, Verdict, conditions, failed, reason_of, waiting


def judge(obj: Object, _look: Look) -> Verdict:
    """Return how far an InstallPlan is; OLM does not try one again whose phase is Failed."""
    phase = str(read(obj, "status", "phase") or "")
    if phase == "Complete":
        return DONE
    if phase == "Failed":
        wrong = [reason_of(condition) for condition in conditions(obj).values() if condition.get("status") == "False"]
        return failed("; ".join(wrong) or str(read(obj, "status", "message") or "Failed"))
    if phase == "RequiresApproval" or read(obj, "spec", "approved") is False:
        return waiting(approval(metadata.namespace(obj), metadata.name(obj)))
    return waiting(phase or "Planning")


RULE = Rule(kinds.INSTALL_PLAN.group, (kinds.INSTALL_PLAN.kind,), judge)
