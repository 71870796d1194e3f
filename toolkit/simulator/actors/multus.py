"""Second networks of pods: what Multus, the macvlan and host-device plugins and whereabouts do when a pod starts."""

import hashlib
import json
import threading
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network

from core.apis import kinds
from core.apis.names import NETWORKS
from toolkit.simulator import pods
from toolkit.simulator.actors.api import Object
from toolkit.simulator.actors.informer import Informer

STATUS = "k8s.v1.cni.cncf.io/network-status"
RESOURCE = "k8s.v1.cni.cncf.io/resourceName"
"""Annotation of a NetworkAttachmentDefinition whose pods need a device of this resource."""


class NetworkError(ValueError):
    """A pod's sandbox cannot be made; the text is as the field words it."""


@dataclass(frozen=True)
class Attachment:
    """One network that a pod joins."""

    namespace: str
    name: str
    interface: str


def attachments(pod: Object) -> list[Attachment]:
    """Return the networks that a pod asks for: `[namespace/]name[@interface]` with commas, or JSON.

    Raise NetworkError for what cannot be read.
    """
    requested = pods.annotations(pod).get(NETWORKS, "").strip()
    if not requested or pod["spec"].get("hostNetwork"):
        return []
    try:
        entries = (
            json.loads(requested)
            if requested.startswith("[")
            else [_parse_reference(part) for part in requested.split(",")]
        )
        return [
            Attachment(
                entry.get("namespace") or pod["metadata"]["namespace"],
                entry["name"],
                entry.get("interface") or f"net{number}",
            )
            for number, entry in enumerate(entries, start=1)
        ]
    except (ValueError, KeyError, AttributeError, TypeError):
        raise NetworkError("parsePodNetworkAnnotation: failed to parse pod Network Attachment Selection") from None


def _parse_reference(text: str) -> dict[str, str]:
    path, _, interface = text.strip().partition("@")
    namespace, _, name = path.rpartition("/")
    return {"namespace": namespace, "name": name, "interface": interface}


class Networks:
    """Attaches pods to networks; every address is given once, to a pod that is there."""

    def __init__(self, definitions: Informer, running: Informer, former: Callable[[str], set[str]]) -> None:
        """`former` returns the names that no interface of a node has any longer, as udev rules gave it another."""
        self._definitions = definitions
        self._former = former
        self._pods = running
        self._lock = threading.Lock()
        self._joined: dict[str, list[Object]] = {}
        """Network status by the pod's uid: a cache of pods may not show it yet."""

    def join(self, pod: Object) -> str | None:
        """Return what the pod's network status becomes, None for a pod without a second network.

        Raise NetworkError where its sandbox cannot be made.
        """
        networks = attachments(pod)
        if not networks:
            return None
        with self._lock:
            uid = pod["metadata"]["uid"]
            if uid not in self._joined:
                self._prune()
                joined: list[Object] = [{"name": "ovn-kubernetes", "interface": "eth0", "default": True, "dns": {}}]
                for network in networks:
                    joined.append(self._attach(pod, network, joined))
                self._joined[uid] = joined
            return json.dumps(self._joined[uid])

    def _attach(self, pod: Object, network: Attachment, joined: list[Object]) -> Object:
        definition = self._definitions.get(network.name, network.namespace)
        kind = kinds.NETWORK_ATTACHMENT_DEFINITION
        if definition is None:
            raise NetworkError(
                f"cannot find a network-attachment-definition ({network.name}) in namespace ({network.namespace}):"
                f' {kind.plural}.{kind.group} "{network.name}" not found'
            )
        try:
            config = json.loads(definition["spec"].get("config") or "{}")
            ipam = config.get("ipam") or {}
            pool = IPv4Network(ipam["range"], strict=False) if ipam.get("type") == "whereabouts" else None
            taken = [IPv4Network(text) for text in ipam.get("exclude") or []]
        except (ValueError, KeyError, AttributeError, TypeError) as error:
            raise NetworkError(f"error parsing configuration of {network.namespace}/{network.name}: {error}") from None
        if (master := config.get("master")) in self._former(pods.node_name(pod)):
            raise NetworkError(f'failed to lookup master "{master}": Link not found')
        resource = pods.annotations(definition).get(RESOURCE)
        if resource and resource not in pods.limits(pod):
            raise NetworkError('specify either "device", "hwaddr", "kernelpath" or "pciBusID"')
        digest = hashlib.sha256(f"{pod['metadata']['uid']} {network.interface}".encode()).hexdigest()
        entry: Object = {
            "name": f"{network.namespace}/{network.name}",
            "interface": network.interface,
            "mac": "02:" + ":".join(digest[at : at + 2] for at in range(0, 10, 2)),
            "dns": {},
        }
        return entry | ({"ips": [str(self._free(pool, taken, joined))]} if pool else {})

    def _free(self, pool: IPv4Network, excluded: list[IPv4Network], joined: list[Object]) -> IPv4Address:
        entries = [*(entry for status in self._joined.values() for entry in status), *joined]
        used = {address for entry in entries for address in entry.get("ips") or []}
        for address in pool.hosts():
            if str(address) not in used and not any(address in subnet for subnet in excluded):
                return address
        raise NetworkError(f"error at storage engine: Could not allocate IP in range: {pool}")

    def _prune(self) -> None:
        pod_of_uid = {pod["metadata"]["uid"]: pod for pod in self._pods.items() if not _ended(pod)}
        self._joined = {uid: status for uid, status in self._joined.items() if uid in pod_of_uid}
        for uid, pod in pod_of_uid.items():  # after a restart of this process
            if uid not in self._joined and (annotation := pods.annotations(pod).get(STATUS)):
                self._joined[uid] = json.loads(annotation)


def _ended(pod: Object) -> bool:
    return pods.phase(pod) in {"Succeeded", "Failed"}
