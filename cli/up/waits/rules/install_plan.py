"""InstallPlans of OLM: approved, carried out, or failed for ever."""

from apis import kinds
from cli.shared import metadata
from cli.up.waits.verdict import DONE, Look, Object, Rule, Verdict, conditions, failed, reason_of, waiting
from policies.values import read

_APPROVED = '{"spec":{"approved":true}}'


def judge(obj: Object, _look: Look) -> Verdict:
    """Return how far an InstallPlan is; OLM does not try one again whose phase is Failed."""
    phase = str(read(obj, "status", "phase") or "")
    if phase == "Complete":
        return DONE
    if phase == "Failed":
        wrong = [reason_of(one) for one in conditions(obj).values() if one.get("status") == "False"]
        return failed("; ".join(wrong) or str(read(obj, "status", "message") or "Failed"))
    if phase == "RequiresApproval" or read(obj, "spec", "approved") is False:
        return waiting(approval(metadata.namespace(obj), metadata.name(obj)))
    return waiting(phase or "Planning")


def approval(namespace: str, name: str) -> str:
    """Return that an InstallPlan waits for a user, with the command."""
    return f"waits for a user's approval: `oc -n {namespace} patch installplan {name} --type merge -p '{_APPROVED}'`"


RULE = Rule(kinds.INSTALL_PLAN.group, (kinds.INSTALL_PLAN.kind,), judge)
