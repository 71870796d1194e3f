"""The kubelet's part in dynamic resource allocation: it has drivers prepare the claims of a pod before that starts.

What is allocated, and to whom, the real scheduler and controller-manager write. Source of the messages: kubernetes
v1.34.2, pkg/kubelet/cm/dra/manager.go and plugin/dra_plugin_manager.go.
"""

import logging

from core.apis import kinds
from toolkit.simulator import names, pods
from toolkit.simulator.actors import images, pod_devices
from toolkit.simulator.actors.api import Object
from toolkit.simulator.actors.informer import Key, Loop
from toolkit.simulator.actors.resource_drivers import PrepareError, ResourceDriver, results
from toolkit.simulator.actors.runtime import Runtime

log = logging.getLogger(__name__)

EVENT = "FailedPrepareDynamicResources"
AGAIN = 1.0
"""Seconds after which claims that are not prepared yet are tried again."""
WIPE_SECONDS = 30.0
"""How long a driver may stay away from a node before its slices are deleted."""


class ResourceClaims:
    """Prepares claims, has the drivers clean up after pods that ended, and deletes slices of drivers that are gone."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._ended: dict[Key, Object] = {}
        """Pods whose claims are to be cleaned up, by namespace and UID."""
        self._pods = Loop("resource claims", self._clean_up)
        self._nodes = Loop("resource slices", self._wipe)

    def start(self) -> None:
        """Start; the runtime's caches must be in."""
        self._pods.start()
        self._nodes.start()
        self._runtime.pods.on_change(self._changed)
        for obj in self._runtime.kubelet.list(kinds.RESOURCE_SLICE)["items"]:
            # Their driver may have gone while nothing here ran.
            self._nodes.add(("", str(obj["spec"].get("nodeName"))), WIPE_SECONDS)

    def prepare(self, pod: Object) -> str | None:
        """Return the record of the devices of a pod; None for a pod without claims; raise PrepareError."""
        entries = pod["spec"].get("resourceClaims") or []
        if not entries:
            return None
        try:
            claims = [claim for entry in entries if (claim := self._claim(pod, entry))]
            calls = [(self._driver(pod, name), claim) for claim in claims for name in _drivers(claim)]
            return pod_devices.written(device for driver, claim in calls for device in _prepared(driver, claim))
        except PrepareError as error:
            raise PrepareError(f"Failed to prepare dynamic resources: prepare dynamic resources: {error}") from None

    def _claim(self, pod: Object, entry: Object) -> Object | None:
        name, generated = claim_name(pod, entry)
        if name is None:
            return None
        claim = self._runtime.kubelet.find(kinds.RESOURCE_CLAIM, name, pod["metadata"]["namespace"])
        if claim is None:
            raise PrepareError(f'fetch ResourceClaim {name}: resourceclaims.resource.k8s.io "{name}" not found')
        if fault := not_usable(pod, claim, generated=generated):
            raise PrepareError(fault)
        return claim

    def _driver(self, pod: Object, name: str) -> ResourceDriver:
        driver = self._runtime.resource_drivers.get((pods.node_name(pod), name))
        if driver is None:
            raise PrepareError(f"DRA driver {name} is not registered")
        return driver

    def _changed(self, _key: Key, old: Object | None, pod: Object | None) -> None:
        version = pod or old
        if version is None:
            return
        if names.DEVICES in pods.annotations(version) and (pod is None or pods.ended(pod)):
            key = (version["metadata"]["namespace"], version["metadata"]["uid"])
            self._ended[key] = version
            self._pods.add(key)
        is_plugin = pods.basename(pods.image(version)) in images.DRA_DRIVERS
        if is_plugin and old is not None and pods.runs(old) and not (pod is not None and pods.runs(pod)):
            self._nodes.add(("", pods.node_name(version)), WIPE_SECONDS)

    def _clean_up(self, key: Key) -> float | None:
        """Have the drivers undo what they did for a pod that has ended; one that is away is called again later."""
        pod = self._ended.get(key)
        if pod is None:
            return None
        node = pods.node_name(pod)
        shared = {
            device.claim_uid
            for other in self._runtime.present_on(node)
            if other["metadata"]["uid"] != key[1]
            for device in pod_devices.devices(other)
        }
        for device in pod_devices.devices(pod):
            driver = self._runtime.resource_drivers.get((node, device.driver))
            if driver is None and self._runtime.nodes.get(node) is not None:
                return AGAIN
            if driver is not None and device.claim_uid not in shared:
                driver.unprepare(device)
        del self._ended[key]
        return None

    def _wipe(self, key: Key) -> None:
        """Delete what drivers that are not there any more have published of a node."""
        fields = f"spec.nodeName={key[1]}"
        for obj in self._runtime.kubelet.list(kinds.RESOURCE_SLICE, fields=fields)["items"]:
            driver = obj["spec"]["driver"]
            if (key[1], driver) not in self._runtime.resource_drivers:
                self._runtime.kubelet.delete(kinds.RESOURCE_SLICE, obj["metadata"]["name"])
                log.info("%s: %s has been away for %d s; its devices are deleted", key[1], driver, WIPE_SECONDS)


def claim_name(pod: Object, entry: Object) -> tuple[str | None, bool]:
    """Return the claim that an entry of a pod means, None where it needs none; and whether it was made for the pod."""
    if name := entry.get("resourceClaimName"):
        return str(name), False
    for status in (pod.get("status") or {}).get("resourceClaimStatuses") or []:
        if status["name"] == entry["name"]:
            return status.get("resourceClaimName"), True
    meta = pod["metadata"]
    raise PrepareError(f'pod "{meta["namespace"]}/{meta["name"]}": ResourceClaim not created yet')


def not_usable(pod: Object, claim: Object, *, generated: bool) -> str | None:
    """Return why a pod may not start with a claim; None where it is allocated, and reserved for the pod."""
    meta, own = pod["metadata"], claim["metadata"]
    owners = {owner.get("uid") for owner in own.get("ownerReferences") or []}
    if generated and meta["uid"] not in owners:
        return (
            f"ResourceClaim {own['namespace']}/{own['name']} was not created for pod {meta['namespace']}/{meta['name']}"
            " (pod is not owner)"
        )
    status = claim.get("status") or {}
    users = {user.get("uid") for user in status.get("reservedFor") or []}
    if meta["uid"] not in users:
        return f"pod {meta['name']} ({meta['uid']}) is not allowed to use ResourceClaim {own['name']} ({own['uid']})"
    return None if status.get("allocation") else f"ResourceClaim {own['name']}: not allocated"


def has_to_prepare(pod: Object) -> bool:
    """Return whether a pod waits for devices of its claims."""
    waits = pods.phase(pod) == "Pending" and pods.accepted(pod) and not pods.deleting(pod)
    return waits and bool(pod["spec"].get("resourceClaims")) and names.VOLUMES not in pods.annotations(pod)


def with_devices(pod: Object, devices: str | None) -> Object:
    """Return a pod with the record of its devices, before the server has it."""
    if devices is None:
        return pod
    meta = pod["metadata"]
    return {**pod, "metadata": {**meta, "annotations": {**pods.annotations(pod), names.DEVICES: devices}}}


def _drivers(claim: Object) -> list[str]:
    return list(dict.fromkeys(result["driver"] for result in results(claim)))


def _prepared(driver: ResourceDriver, claim: Object) -> list[pod_devices.PodDevice]:
    try:
        return driver.prepare(claim)
    except PrepareError as error:
        name = claim["metadata"]["name"]
        raise PrepareError(f"NodePrepareResources failed for ResourceClaim {name}: {error}") from None
