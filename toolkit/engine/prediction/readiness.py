"""Whether a Job is complete, and what an object shows about its readiness (pure)."""

from dataclasses import dataclass, field

from toolkit.engine.prediction.values import Properties


@dataclass(frozen=True)
class Observation:
    """What one reading of an object shows. `failure` ends the wait, `error` is its text when the time is over."""

    ready: bool
    message: str = ""
    reasons: list[str] = field(default_factory=list)
    failure: str = ""
    error: str = ""
    ready_at_last: bool = False
    """Whether it counts as ready when the time is over."""


def status_of(live: Properties) -> Properties:
    """Return `status`, empty where there is none."""
    found = live.get("status")
    return found if isinstance(found, dict) else {}


def conditions(live: Properties) -> dict[str, Properties]:
    """`status.conditions` by type."""
    listed = (live.get("status") or {}).get("conditions") or []
    return {item.get("type", ""): item for item in listed if isinstance(item, dict)}


def job(live: Properties) -> Observation:
    """Require the job to have started, and to be complete."""
    status = status_of(live)
    if not status.get("startTime"):
        return Observation(ready=False, message="it has not started")
    failed = conditions(live).get("Failed", {})
    if failed.get("status") == "True" and failed.get("reason") in ("BackoffLimitExceeded", "DeadlineExceeded"):
        text = f"[{failed['reason']}] {failed.get('message', '')}"
        name = live["metadata"]["name"]
        failure = f"Resource '{name}' was created but failed to initialize"
        return Observation(ready=False, reasons=[text], failure=failure)
    counts = (f"{status.get(name, 0)} {text}" for name, text in (("active", "pods active"), ("failed", "failed")))
    return Observation(ready=conditions(live).get("Complete", {}).get("status") == "True", message=", ".join(counts))
