"""KubeletConfigs: accepted by the machine-config controller, or refused with a reason; the last condition counts."""

from core.apis import kinds
from policies.manifests.values import read
from toolkit.cli.up.waits.verdict import DONE, Look, Object, Rule, Verdict, failing, reason_of, waiting


def judge(obj: Object, _look: Look) -> Verdict:
    """Return how far a KubeletConfig is."""
    reported = [condition for condition in read(obj, "status", "conditions") or () if isinstance(condition, dict)]
    if not reported:
        return waiting("the machine-config controller has not seen it yet")
    last = reported[-1]
    if last.get("type") == "Success":
        return DONE
    return failing(reason_of(last), "Failure") if last.get("type") == "Failure" else waiting(reason_of(last))


RULE = Rule(kinds.KUBELET_CONFIG.group, (kinds.KUBELET_CONFIG.kind,), judge)
