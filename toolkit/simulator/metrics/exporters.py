"""Metrics of pods, quotas and ports in Prometheus' text format; every HELP line says that the values are simulated.

Not prometheus_client's format: it ends the name of every counter in `_total`, and DCGM's exporter does not. Source of
those of ports: prometheus/node_exporter, collector/infiniband_linux.go at v0.18.1 (OpenShift 4.4), which has no states
and no rate, and v1.10 (OpenShift 4.21). Hardware counters came with 1.12, which no simulated OpenShift has.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from core.apis.client import Object
from core.apis.names import SIMULATED
from core.apis.quantity import amount
from toolkit.simulator import pods
from toolkit.simulator.performance.job import Machine
from toolkit.simulator.performance.ports import RATE_WITHOUT_LINK, in_order

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
Sample = tuple[Mapping[str, str], float]
"""Labels and value."""
_ESCAPES = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})
_UNITS = {"cpu": "core", "memory": "byte"}
PHASES = ("Pending", "Running", "Succeeded", "Failed", "Unknown")
_STATES = {
    "state_id": ("state of the port (1: down, 4: active)", 4, 1),
    "physical_state_id": ("physical state of the port (2: polling, 5: link up)", 5, 2),
}
"""Name -> meaning, value of a port with a link and without."""
_NEVER = {
    "link_error_recovery_total": "times that the link recovered from an error",
    "port_discards_transmitted_total": "outbound packets that were discarded",
    "port_errors_received_total": "broken packets that were received",
    "port_transmit_wait_total": "ticks in which data waited",
}
"""Counters that stay 0: nothing of the simulated cluster changes them."""
BYTES = 1_000_000_000 // 8
"""A second, of one Gb/s."""


@dataclass(frozen=True)
class Family:
    """All series of one metric."""

    name: str
    kind: Literal["gauge", "counter"]
    text: str
    samples: tuple[Sample, ...]


def exposition(families: Iterable[Family]) -> str:
    """Return the body of an exporter's answer; a metric without series is left out."""
    lines = []
    for family in families:
        if family.samples:
            text = f"{SIMULATED}: {family.text}".replace("\\", r"\\").replace("\n", r"\n")
            lines += [f"# HELP {family.name} {text}", f"# TYPE {family.name} {family.kind}"]
            lines += [f"{family.name}{_labels(labels)} {value:.15g}" for labels, value in family.samples]
    return "".join(f"{line}\n" for line in lines)


def _labels(labels: Mapping[str, str]) -> str:
    written = ",".join(f'{name}="{value.translate(_ESCAPES)}"' for name, value in labels.items() if value)
    return f"{{{written}}}" if written else ""


def pod_families(objects: Iterable[Object], quotas: Iterable[Object]) -> Iterator[Family]:
    """Yield the metrics of pods and quotas that rules and dashboards read of kube-state-metrics."""
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
                    labels |= {"resource": re.sub(r"\W", "_", resource), "unit": _UNITS.get(resource, "integer")}
                    yield labels, float(value)


def _quotas(quotas: Iterable[Object]) -> Iterator[Sample]:
    for quota in quotas:
        meta, status = quota["metadata"], quota.get("status") or {}
        for kind in ("hard", "used"):
            for resource, text in (status.get(kind) or {}).items():
                value = amount(text)
                if value is not None:
                    labels = {"namespace": meta["namespace"], "resourcequota": meta["name"], "resource": resource}
                    yield {**labels, "type": kind}, float(value)


def port_families(
    machine: Machine, *, states: bool, lost: Callable[[str], float], carried: Callable[[str], float]
) -> Iterator[Family]:
    """Yield the metrics of a machine's ports by node_exporter's InfiniBand collector, which reads RoCE's, too.

    `lost` and `carried` give by HCA how often its link went down, and the bytes that it sent, which it also received.
    """
    hcas = in_order(machine.hcas)

    def family(name: str, kind: str, text: str, value: Callable[[str], float]) -> Family:
        samples: tuple[Sample, ...] = tuple(({"device": hca.name, "port": "1"}, value(hca.name)) for hca in hcas)
        return Family(f"node_infiniband_{name}", "gauge" if kind == "gauge" else "counter", text, samples)

    if states:
        for name, (text, up, down) in _STATES.items():
            yield family(name, "gauge", text, lambda hca, up=up, down=down: up if machine.is_up(hca) else down)  # type: ignore[misc]
        rates = {hca.name: hca.rate_gbps for hca in hcas}
        yield family(
            "rate_bytes_per_second",
            "gauge",
            "rate of the port",
            lambda hca: BYTES * (rates[hca] if machine.is_up(hca) else RATE_WITHOUT_LINK),
        )
    yield family("link_downed_total", "counter", "times that the link went down", lost)
    for side in ("received", "transmitted"):
        yield family(f"port_data_{side}_bytes_total", "counter", f"bytes that were {side}", carried)
    for name, text in _NEVER.items():
        yield family(name, "counter", text, lambda _: 0)
