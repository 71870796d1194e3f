"""What is read to see whether an object is ready, and what pods, services and ingresses show (pure)."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from toolkit.engine.prediction.inputs import ObjectType
from toolkit.engine.prediction.readiness import Observation, status_of
from toolkit.engine.prediction.values import Properties


@dataclass(frozen=True)
class Seen:
    """An object, what belongs to it by kind, the object before the update, and whether endpoints have settled."""

    live: Properties
    related: dict[str, list[Properties]] = field(default_factory=dict)
    before: Properties | None = None
    settled: bool = True
    creating: bool = True
    """Whether a create or an update waits, and no refresh reads."""


@dataclass(frozen=True)
class Checker:
    """How one kind is inspected: with which other objects, how long (0: as requested), and if a refresh does it."""

    observe: Callable[[Seen], Observation]
    timed_out: str = ""
    related: tuple[ObjectType, ...] = ()
    fixed_timeout: float = 0
    on_read: bool = False
    storage_class: bool = False


def spec_of(live: Properties) -> Properties:
    """Return `spec`, empty where there is none."""
    spec = live.get("spec")
    return spec if isinstance(spec, dict) else {}


def _condition_of(pod: Properties, kind: str) -> Properties:
    conditions = (pod.get("status") or {}).get("conditions") or []
    return next((item for item in conditions if item.get("type") == kind), {})


def pod_ready(pod: Properties) -> bool:
    """Return whether a pod is ready, or has succeeded."""
    steps = (_condition_of(pod, kind).get("status") == "True" for kind in ("PodScheduled", "Initialized"))
    return all(steps) and _up(pod)


def _up(pod: Properties) -> bool:
    ready = _condition_of(pod, "Ready")
    succeeded = (pod.get("status") or {}).get("phase") == "Succeeded"
    return bool(ready) and (ready.get("status") == "True" or succeeded)


def pod_warnings(pod: Properties) -> list[str]:
    """Return what a pod that is scheduled says about why it is not ready: at most one text."""
    if _condition_of(pod, "PodScheduled").get("status") != "True":
        return []
    initialized, ready = _condition_of(pod, "Initialized"), _condition_of(pod, "Ready")
    if initialized.get("status") != "True":
        return _warning(pod, initialized) if initialized else []
    return [] if _up(pod) or not ready else _warning(pod, ready)


def _warning(pod: Properties, condition: Properties) -> list[str]:
    errors = [text for status in pod["status"].get("containerStatuses", []) for text in _container_reasons(status)]
    message = condition.get("message", "")
    if not errors and not message:
        return []
    metadata = pod["metadata"]
    namespace = metadata.get("namespace", "default")
    name = metadata["name"] if namespace == "default" else f"{namespace}/{metadata['name']}"
    reported = message if condition.get("reason") and message else ""
    return [f"[Pod {name}]: {reported}" + "\n".join(errors)]


def _container_reasons(status: Properties) -> Iterator[str]:
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


def service(seen: Seen) -> Observation:
    """Require endpoints that have settled, and an address where a load balancer gives one."""
    live, spec = seen.live, spec_of(seen.live)
    balanced = spec.get("type") == "LoadBalancer"
    has_address = not balanced or bool(status_of(live).get("loadBalancer", {}).get("ingress"))
    nameless = spec.get("clusterIP") == "None" or spec.get("type") == "ExternalName"
    if nameless or not spec.get("selector"):
        targets, pending, waits = False, False, False
    else:
        subsets = [
            subset
            for item in seen.related["Endpoints"]
            if item["metadata"]["name"] == live["metadata"]["name"]
            for subset in item.get("subsets") or []
        ]
        targets = any(subset.get("addresses") for subset in subsets)
        pending = any(subset.get("notReadyAddresses") for subset in subsets)
        waits = True
    if has_address and (not waits or (seen.settled and not pending)):
        return Observation(ready=True)
    reasons = []
    if not nameless and not targets:
        reasons.append(
            "Service does not target any Pods. Selected Pods may not be ready, or field '.spec.selector' may not match"
            " labels on any Pods"
        )
    if balanced and not has_address and not nameless:
        reasons.append("Service was not allocated an IP address; does your cloud provider support this?")
    at_last = has_address and not pending
    return Observation(ready=False, message="its endpoints have not settled", reasons=reasons, ready_at_last=at_last)


def ingress(seen: Seen) -> Observation:
    """Require an address, and endpoints of every service."""
    has_address = bool(status_of(seen.live).get("loadBalancer", {}).get("ingress"))
    reachable_services = {item["metadata"]["name"] for item in seen.related["Endpoints"]}
    reachable_services |= {
        item["metadata"]["name"] for item in seen.related["Service"] if spec_of(item).get("type") == "ExternalName"
    }
    paths = [path for rule in spec_of(seen.live).get("rules", []) for path in (rule.get("http") or {}).get("paths", [])]
    names = {(path["backend"].get("service") or {}).get("name") for path in paths} - {None}
    reachable = seen.settled or names <= reachable_services
    if has_address and reachable:
        return Observation(ready=True)
    reasons = [] if reachable else ["Ingress has at least one rule with an unavailable target endpoint."]
    if not has_address:
        reasons.append("Ingress .status.loadBalancer field was not updated with a hostname/IP address.")
    return Observation(ready=False, message="it has no address, or no endpoints", reasons=reasons)
