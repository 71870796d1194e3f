"""Kubernetes' own workloads, and PersistentVolumeClaims: a pending one has the reason in its events (pure)."""

from core.apis import kinds
from policies.manifests.values import read
from toolkit.cli.up.waits import workloads
from toolkit.cli.up.waits.pods import newest_event
from toolkit.cli.up.waits.verdict import DONE, Look, Object, Rule, Verdict, failed, waiting


def judge_claim(obj: Object, look: Look) -> Verdict:
    """Return how far a claim is."""
    phase = str(read(obj, "status", "phase") or "Pending")
    if phase == "Bound":
        return DONE
    if phase == "Lost":
        return failed("Lost: its volume and its data are gone")
    newest = newest_event(obj, look)
    message = str(newest.get("message") or "").strip()
    return waiting(f"{phase}; {newest.get('reason')}: {message}" if message else phase)


RULES = (
    Rule("apps", tuple(kind.kind for kind in workloads.KINDS), workloads.verdict),
    Rule("", (kinds.PERSISTENT_VOLUME_CLAIM.kind,), judge_claim),
)
