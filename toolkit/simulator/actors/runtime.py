"""What the actors share: the kubelet identity, its caches of the cluster, and settings."""

import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import TypeAdapter

from core.apis import kinds
from core.apis.names import NETWORK_CONFIG
from core.hardware import profiles
from core.hardware.profiles import Hca, Profile
from policies.scc.shipped import Release
from toolkit.simulator import names, pods
from toolkit.simulator.actors import images
from toolkit.simulator.actors.api import Api, Object, RenewedToken, Server
from toolkit.simulator.actors.informer import Informer, Key
from toolkit.simulator.actors.resource_drivers import ResourceDriver
from toolkit.simulator.api import Kubeconfig, read_kubeconfig
from toolkit.simulator.performance.job import POD_MTU
from toolkit.simulator.state import MpiGeneration

log = logging.getLogger(__name__)

_PORTS = TypeAdapter(tuple[Hca, ...])
TOKEN_SECONDS = 30 * 24 * 3600
"""Longer than a simulated cluster runs: the MPI operator's process keeps the token that it was started with."""


@dataclass(frozen=True)
class Settings:
    """Of one run: the cluster's folder, how long a simulated job runs (seconds), the tools of real controllers.

    `mpi` is the generation of MPIJob that the operator knows, `release` that of the cluster's default SCCs, `openshift`
    the one that its ClusterVersion names, if any; `ports` are those of the controllers and of metrics, by name.
    `hosted`: there are no MachineConfigs.
    """

    home: Path
    run_seconds: float
    tools: Mapping[str, Path] = field(default_factory=dict)
    mpi: MpiGeneration = "v1alpha2"
    release: Release = "4.4"
    openshift: str | None = None
    ports: Mapping[str, int] = field(default_factory=dict)
    hosted: bool = False


class Runtime:
    """Caches with the kubelet identity, and access with others: one API server, one connection pool.

    `listening` has the programs that pods serve others with: address and port of the pod -> port on loopback.
    `resource_drivers` has the drivers for dynamic resource allocation whose plugins run: node and name -> the driver.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.server = Server(self._kubeconfig("kubelet"))
        self.kubelet = self.identity("kubelet")
        self.listening: dict[tuple[str, int], int] = {}
        self.resource_drivers: dict[tuple[str, str], ResourceDriver] = {}
        self._bound: dict[str, dict[Key, Object]] = {}
        self.pods = Informer(self.kubelet, kinds.POD, self._index, trim=_without_managed_fields)
        self.nodes = Informer(self.kubelet, kinds.NODE, trim=_without_managed_fields)
        self.config_maps = Informer(self.kubelet, kinds.CONFIG_MAP, trim=_without_managed_fields)
        self.secrets = Informer(self.kubelet, kinds.SECRET, trim=_keys_only)
        self.claims = Informer(self.kubelet, kinds.PERSISTENT_VOLUME_CLAIM, trim=_without_managed_fields)
        self.networks = Informer(self.identity("multus"), kinds.NETWORK_ATTACHMENT_DEFINITION)
        self.volumes = Informer(self.kubelet, kinds.PERSISTENT_VOLUME, trim=_without_managed_fields)
        self.network = Informer(self.kubelet, kinds.NETWORK_CONFIG)

    @property
    def caches(self) -> tuple[Informer, ...]:
        """All caches: of the kubelet identity, and that of Multus."""
        objects = (self.config_maps, self.secrets, self.claims, self.volumes, self.networks, self.network)
        return (self.pods, self.nodes, *objects)

    @property
    def pod_mtu(self) -> int:
        """MTU of the pods' eth0, bytes."""
        network = self.network.get(NETWORK_CONFIG) or {}
        return int((network.get("status") or {}).get("clusterNetworkMTU") or POD_MTU)

    def identity(self, name: str) -> Api:
        """Return access as one of OpenShift's own parts, from `identities/<name>.kubeconfig`."""
        token = read_kubeconfig(self._kubeconfig(name)).token
        return Api(self.server, lambda: token, name)

    def account(self, pod: Object) -> Api:
        """Return access as the service account of a pod, bound to that pod: no more than RBAC gives it."""
        return Api(self.server, RenewedToken(lambda: (self.token(pod), TOKEN_SECONDS)), pods.account(pod))

    def token(self, pod: Object) -> str:
        """Return a new token of a pod's service account, bound to that pod."""
        meta = pod["metadata"]
        bound = {"kind": "Pod", "apiVersion": "v1", "name": meta["name"], "uid": meta["uid"]}
        request = {"spec": {"expirationSeconds": TOKEN_SECONDS, "boundObjectRef": bound}}
        account = pods.account(pod)
        answer = self.kubelet.create(kinds.SERVICE_ACCOUNT, request, meta["namespace"], name=account, sub="token")
        return str(answer["status"]["token"])

    def access(self) -> Kubeconfig:
        """Return where the API server is; the token is the kubelet's."""
        return read_kubeconfig(self._kubeconfig("kubelet"))

    def pause(self, seconds: float) -> None:
        """Let time pass that something on a node would take."""
        time.sleep(seconds)

    def profile(self, node: Object) -> Profile | None:
        """Return the hardware of a node, None for one without GPUs and adapters."""
        marks = pods.annotations(node)
        if names.PROFILE not in marks:
            return None
        own, ports = marks.get(names.MACHINE), marks.get(names.PORTS)
        machine = profiles.from_json(own) if own else profiles.profile(marks[names.PROFILE])
        return profiles.with_hcas(machine, _PORTS.validate_json(ports)) if ports else machine

    def is_lost(self, node: str) -> bool:
        """Return whether a machine is off: nothing on it acts, and no one reports of it."""
        return names.LOST in pods.annotations(self.nodes.get(node) or {"metadata": {}})

    def bound_to(self, node: str) -> list[Object]:
        """Return the pods of a node, in whatever state."""
        return list(self._bound.get(node, {}).values())

    def present_on(self, node: str) -> list[Object]:
        """Return the pods of a node that have not ended."""
        return [pod for pod in self.bound_to(node) if not pods.ended(pod)]

    def running_on(self, node: str) -> list[Object]:
        """Return the pods that run on a node."""
        return [pod for pod in list(self._bound.get(node, {}).values()) if pods.runs(pod)]

    def _index(self, key: Key, old: Object | None, pod: Object | None) -> None:
        """Index pods by node: those of one node are requested often."""
        if old is not None and (pod is None or pods.node_name(old) != pods.node_name(pod)):
            self._bound.get(pods.node_name(old), {}).pop(key, None)
        if pod is not None and pods.node_name(pod):
            self._bound.setdefault(pods.node_name(pod), {})[key] = pod

    def drivers(self, driver: str, node: str) -> list[Object]:
        """Return the pods of a CSI driver that run on a node."""
        drivers = images.CSI_DRIVERS.get(driver, frozenset())
        return [pod for pod in self.running_on(node) if pods.basename(pods.image(pod)) in drivers]

    def _kubeconfig(self, name: str) -> Path:
        return self.settings.home / "identities" / f"{name}.kubeconfig"


def _without_managed_fields(obj: Object) -> Object:
    obj["metadata"].pop("managedFields", None)
    return obj


def _keys_only(secret: Object) -> Object:
    meta = secret["metadata"]
    kept = {"name": meta["name"], "namespace": meta["namespace"]}
    return {"metadata": kept, "data": dict.fromkeys(secret.get("data") or {}, "")}
