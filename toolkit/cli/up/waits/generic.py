"""Custom resources without a rule of their own: their state is that of their operators' workloads (pure)."""

from policies.manifests.values import read
from toolkit.cli.up.waits import workloads
from toolkit.cli.up.waits.verdict import Look, Object, Verdict, conditions, reason_of, waiting

_GOOD = frozenset({"Available", "Ready", "Success", "Active", "Established"})


def judge(obj: Object, look: Look) -> Verdict:
    """Return what fails of an operator's workloads, else the object's own status."""
    operands = workloads.operands(obj, look)
    if operands.state != "done":
        return operands
    return waiting(status(obj))


def status(obj: Object) -> str:
    """Return an object's status, in one line: the good condition that is not met, else state or phase."""
    for kind, condition in conditions(obj).items():
        if kind in _GOOD and condition.get("status") != "True":
            return f"{kind} is {condition.get('status')}: {reason_of(condition)}"
    words = [str(word) for key in ("state", "phase", "reason") if (word := read(obj, "status", key))]
    return ": ".join(words) or "no status yet"
