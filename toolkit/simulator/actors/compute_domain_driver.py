"""NVIDIA's driver for ComputeDomains on one node: the channel of a workload, and the daemon that must be ready first.

Source: dra-driver-nvidia-gpu v0.5.0, cmd/compute-domain-kubelet-plugin, where the driver itself manages IMEX. Not
simulated: IMEX that the host manages, and what the channel's device is in a container.
"""

import threading
from collections.abc import Iterable

from core.apis import kinds
from core.apis.devices import COMPUTE_DOMAIN_DRIVER
from core.apis.names import COMPUTE_DOMAIN
from toolkit.simulator import names, pods
from toolkit.simulator.actors.api import Api, Object
from toolkit.simulator.actors.pod_devices import PodDevice
from toolkit.simulator.actors.resource_drivers import allocated, refused

CHANNEL, DAEMON = "ComputeDomainChannelConfig", "ComputeDomainDaemonConfig"
READY = "Ready"


class ComputeDomainDriver:
    """Gives the channel of its node to one claim at a time.

    `prepared` are the devices of pods that run on the node: what the real one has in its checkpoint.
    """

    def __init__(self, api: Api, node: str, namespace: str, prepared: Iterable[PodDevice]) -> None:
        self._api = api
        self._node = node
        self._namespace = namespace
        self._lock = threading.Lock()
        self._channels = {device.claim_uid: device.domain for device in prepared if device.device.startswith("channel")}
        """Claims that have the channel -> their ComputeDomain."""

    def prepare(self, claim: Object) -> list[PodDevice]:
        """Return the device of a claim; raise PrepareError until its domain's daemon is ready on this node."""
        kind, uid = configuration(claim)
        devices = allocated(claim, COMPUTE_DOMAIN_DRIVER, uid)
        if kind not in (CHANNEL, DAEMON):
            raise refused(claim, "runtime object is not a recognized configuration")
        domain = self._domain(uid)
        if domain is None:
            raise refused(claim, f"error applying config: compute domain not found: {uid}")
        if kind == CHANNEL:
            with self._lock:
                self._join(claim, domain)
        return devices

    def unprepare(self, device: PodDevice) -> None:
        """Take the node out of the domain whose channel a claim had; the domain's daemon goes with the label."""
        with self._lock:
            domain = self._channels.pop(device.claim_uid, None)
            if domain and domain not in self._channels.values() and self._label() == domain:
                self._set_label(None)

    def forget(self) -> None:
        """Take the node out of a domain whose channel no claim has any more, as after a claim ended unseen."""
        with self._lock:
            label = self._label()
            if label and label not in self._channels.values():
                self._set_label(None)

    def _join(self, claim: Object, domain: Object) -> None:
        uid, own = domain["metadata"]["uid"], claim["metadata"]
        holder = next((other for other in self._channels if other != own["uid"]), None)
        if holder:
            why = f"channel 0 already allocated by claim {holder} (according to checkpoint)"
            raise refused(claim, f"error applying config: allocation failed: {why}")
        if domain["metadata"]["namespace"] != own["namespace"]:
            raise refused(
                claim,
                "error applying config: error asserting ComputeDomain's namespace: the ResourceClaim's namespace is"
                " different than the ComputeDomain's namespace",
            )
        label = self._label()
        if label not in (None, uid):
            raise refused(
                claim,
                "error applying config: error adding Node label for ComputeDomain: label already exists for a different"
                " ComputeDomain",
            )
        if label is None:
            self._set_label(uid)
        if not self._is_ready(domain):
            raise refused(
                claim,
                "error applying config: error asserting ComputeDomain Ready: current node not ready in ComputeDomain",
            )
        self._channels[own["uid"]] = uid

    def _domain(self, uid: str) -> Object | None:
        domains = self._api.list(kinds.COMPUTE_DOMAIN)["items"]
        return next((domain for domain in domains if domain["metadata"]["uid"] == uid), None)

    def _is_ready(self, domain: Object) -> bool:
        """Return whether the daemon here is ready: by the node's clique, else by the domain's own status."""
        clique = pods.annotations(self._api.get(kinds.NODE, self._node)).get(names.NVLINK_CLIQUE)
        name = f"{domain['metadata']['uid']}.{clique}"
        entries = self._api.find(kinds.COMPUTE_DOMAIN_CLIQUE, name, self._namespace) if clique else None
        daemons = [
            *((daemon["nodeName"], daemon.get("status")) for daemon in (entries or {}).get("daemons") or []),
            *((entry["name"], entry.get("status")) for entry in (domain.get("status") or {}).get("nodes") or []),
        ]
        return (self._node, READY) in daemons

    def _label(self) -> str | None:
        return pods.labels(self._api.get(kinds.NODE, self._node)).get(COMPUTE_DOMAIN)

    def _set_label(self, domain: str | None) -> None:
        self._api.patch(kinds.NODE, self._node, {"metadata": {"labels": {COMPUTE_DOMAIN: domain}}})


def configuration(claim: Object) -> tuple[str, str]:
    """Return kind and ComputeDomain of the parameters that a claim brings for the driver; empty where it has none."""
    allocation = (claim.get("status") or {}).get("allocation") or {}
    for entry in (allocation.get("devices") or {}).get("config") or []:
        opaque = entry.get("opaque") or {}
        if opaque.get("driver") == COMPUTE_DOMAIN_DRIVER:
            parameters = opaque.get("parameters") or {}
            return str(parameters.get("kind", "")), str(parameters.get("domainID", ""))
    return "", ""
