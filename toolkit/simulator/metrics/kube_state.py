"""kube-state-metrics, as far as rules and dashboards read it: phases and requests of pods, and quotas."""

from collections.abc import Iterable, Iterator

from core.apis.client import Object
from core.apis.quantity import amount
from toolkit.simulator import pods
from toolkit.simulator.metrics.text import Family, Sample

PHASES = ("Pending", "Running", "Succeeded", "Failed", "Unknown")


def families(objects: Iterable[Object], quotas: Iterable[Object]) -> Iterator[Family]:
    """Yield the metrics of pods and quotas."""
    listed = list(objects)
    phases = tuple(
        ({**_pod(pod), "phase": phase}, float(pods.phase(pod) == phase)) for pod in listed for phase in PHASES
    )
    yield Family("kube_pod_status_phase", "gauge", "phase of a pod", phases)
    yield Family("kube_pod_container_resource_requests", "gauge", "requests of containers", tuple(_requests(listed)))
    yield Family("kube_resourcequota", "gauge", "quota of a namespace", tuple(_quotas(quotas)))


def _pod(pod: Object) -> dict[str, str]:
    meta = pod["metadata"]
    return {"namespace": meta["namespace"], "pod": meta["name"], "uid": str(meta.get("uid", ""))}


def _requests(objects: Iterable[Object]) -> Iterator[Sample]:
    for pod in objects:
        # The exporter counts those of pods that have not ended.
        if pods.phase(pod) in ("Succeeded", "Failed"):
            continue
        for container in pod["spec"]["containers"]:
            resources = container.get("resources") or {}
            # The API server fills in requests from limits.
            for resource, text in ((resources.get("limits") or {}) | (resources.get("requests") or {})).items():
                value = amount(text)
                if value is not None:
                    labels = {**_pod(pod), "container": container["name"], "node": pods.node_name(pod)}
                    yield {**labels, "resource": _sanitized(resource), "unit": _unit(resource)}, float(value)


def _sanitized(resource: str) -> str:
    return "".join(letter if letter.isalnum() else "_" for letter in resource)


def _unit(resource: str) -> str:
    return {"cpu": "core", "memory": "byte"}.get(resource, "integer")


def _quotas(quotas: Iterable[Object]) -> Iterator[Sample]:
    for quota in quotas:
        meta, status = quota["metadata"], quota.get("status") or {}
        for kind in ("hard", "used"):
            for resource, text in (status.get(kind) or {}).items():
                value = amount(text)
                if value is not None:
                    labels = {"namespace": meta["namespace"], "resourcequota": meta["name"], "resource": resource}
                    yield {**labels, "type": kind}, float(value)
