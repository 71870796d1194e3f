"""Whether a pod is ready, and what it says where it is not (pure)."""

from collections.abc import Iterator

from toolkit.engine.prediction.values import Properties


def _condition(pod: Properties, kind: str) -> Properties:
    conditions = (pod.get("status") or {}).get("conditions") or []
    return next((item for item in conditions if item.get("type") == kind), {})


def pod_ready(pod: Properties) -> bool:
    """Return whether a pod is ready, or has succeeded."""
    steps = (_condition(pod, kind).get("status") == "True" for kind in ("PodScheduled", "Initialized"))
    return all(steps) and _up(pod)


def _up(pod: Properties) -> bool:
    ready = _condition(pod, "Ready")
    succeeded = (pod.get("status") or {}).get("phase") == "Succeeded"
    return bool(ready) and (ready.get("status") == "True" or succeeded)


def pod_warnings(pod: Properties) -> list[str]:
    """Return what a pod that is scheduled says about why it is not ready: at most one text."""
    if _condition(pod, "PodScheduled").get("status") != "True":
        return []
    initialized, ready = _condition(pod, "Initialized"), _condition(pod, "Ready")
    if initialized.get("status") != "True":
        return _warning(pod, initialized) if initialized else []
    return [] if _up(pod) or not ready else _warning(pod, ready)


def _warning(pod: Properties, condition: Properties) -> list[str]:
    errors = [text for status in pod["status"].get("containerStatuses", []) for text in _container(status)]
    message = condition.get("message", "")
    if not errors and not message:
        return []
    metadata = pod["metadata"]
    namespace = metadata.get("namespace", "default")
    name = metadata["name"] if namespace == "default" else f"{namespace}/{metadata['name']}"
    reported = message if condition.get("reason") and message else ""
    return [f"[Pod {name}]: {reported}" + "\n".join(errors)]


def _container(status: Properties) -> Iterator[str]:
    if status.get("ready"):
        return
    state = status.get("state") or {}
    waiting, ended = state.get("waiting"), state.get("terminated")
    if waiting and waiting.get("reason") != "ContainerCreating":
        yield f"[{waiting.get('reason', '')}] {waiting.get('message', '')}"
    if ended and ended.get("reason"):
        code = f'container "{status.get("name")}" completed with exit code {ended.get("exitCode", 0)}'
        yield f"[{ended['reason']}] {ended['message']}" if ended.get("message") else code
    last = (status.get("lastState") or {}).get("terminated")
    if last:
        yield (
            f'container "{status.get("name")}" terminated at {last.get("finishedAt")}'
            f" ({last.get('reason', '')}: exit code {last.get('exitCode', 0)})"
        )
        if last.get("message"):
            yield str(last["message"])
