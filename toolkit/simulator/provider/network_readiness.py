"""When services and ingresses are up (pure)."""

from toolkit.engine.prediction.readiness import Observation, status_of
from toolkit.simulator.provider.observations import Seen, spec_of


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
