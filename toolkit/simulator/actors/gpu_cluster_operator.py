"""GPU Operator from 26.7 on: what the earlier ones do, and GPUs by claims, of the one GPUCluster.

Source: NVIDIA/gpu-operator v26.7.0, controllers/gpucluster_controller.go and state_manager.go. Simulated choice: a node
where a ClusterPolicy and a GPUCluster are both there has the labels of the policy.
"""

from core.apis import kinds
from core.apis.names import GPU_DEPLOY
from toolkit.simulator import names, pods
from toolkit.simulator.actors import gpu_cluster_objects as objects
from toolkit.simulator.actors.api import Object, stated
from toolkit.simulator.actors.gpu_driver_objects import OWNER
from toolkit.simulator.actors.gpu_operator import ENABLED, PRE_INSTALLED, PRESENT, GpuOperator, has_gpu
from toolkit.simulator.actors.podactor import HERE, settled

FINALIZER = "gpucluster.nvidia.com/dra-resourceclaim"
ADMIN_ACCESS = "resource.kubernetes.io/admin-access"
"""Label of namespaces in which claims may see devices of others."""
AGAIN = 1.0
"""Seconds after which pods that have to end are looked for again."""
BOTH = 'A ClusterPolicy CR "{name}" exists; a ClusterPolicy CR and GPUCluster CR may not exist at the same time'
WAITS = "Waiting for operand pods to be ready"
RECONCILED = "All resources have been successfully reconciled"
_DRIVER = f"{GPU_DEPLOY}driver"


class GpuClusterOperator(GpuOperator):
    """Acts on the GPUCluster as well, where there is no ClusterPolicy."""

    applied: tuple[str, int] | None = None
    """UID and generation of the GPUCluster whose objects were applied last."""
    watched = (*GpuOperator.watched, (kinds.GPU_CLUSTER, None), (kinds.DEPLOYMENT, HERE))

    def reconcile(self) -> float | None:
        """Reconcile what a policy and NVIDIADrivers want, then the GPUCluster."""
        super().reconcile()
        for cluster in self.caches[kinds.GPU_CLUSTER].items():
            if pods.deleting(cluster):
                return self._end(cluster)
            self._reconcile_cluster(cluster)
        return None

    def drives(self, spec: Object | None) -> bool:
        """Return whether NVIDIADrivers bring the drivers: they do beside a GPUCluster, which brings none."""
        return super().drives(spec) or (spec is None and bool(self.objects(kinds.GPU_CLUSTER)))

    def labels_of(self, node: Object, spec: Object | None, owner: str | None) -> dict[str, str | None]:
        """Return what the operator's labels on a node become; without a policy they are the GPUCluster's."""
        if spec is None and self.objects(kinds.GPU_CLUSTER):
            return node_labels(node, owner)
        return super().labels_of(node, spec, owner)

    def _reconcile_cluster(self, cluster: Object) -> None:
        meta, spec = cluster["metadata"], cluster["spec"]
        if FINALIZER not in (meta.get("finalizers") or []):
            self.api.patch(kinds.GPU_CLUSTER, meta["name"], {"metadata": {"finalizers": [FINALIZER]}})
        policies = self.objects(kinds.CLUSTER_POLICY)
        if policies:
            why = BOTH.format(name=policies[0]["metadata"]["name"])
            self._say(cluster, "PrerequisiteNotMet", why, ready=False)
            return
        sets = {name: self.own(kinds.DAEMON_SET, name) for name in objects.daemon_sets(spec)}
        for name in objects.PARTS:
            if name not in sets and self.own(kinds.DAEMON_SET, name):
                self.api.delete(kinds.DAEMON_SET, name, self.namespace)
        version = (meta["uid"], meta["generation"])
        if None in sets.values() or self.applied != version:
            self.api.patch(kinds.NAMESPACE, self.namespace, {"metadata": {"labels": {ADMIN_ACCESS: "true"}}})
            self.make(objects.manifests(spec, self.namespace), cluster)
            self.applied = version
        ready = all(map(settled, sets.values())) and self._controller_runs(spec)
        reason, message = ("Reconciled", RECONCILED) if ready else ("OperandNotReady", WAITS)
        self._say(cluster, reason, message, ready=ready)

    def _controller_runs(self, spec: Object) -> bool:
        if not objects.has_domains(spec):
            return True
        found = self.own(kinds.DEPLOYMENT, objects.CONTROLLER)
        return bool(found and (found.get("status") or {}).get("availableReplicas"))

    def _say(self, cluster: Object, reason: str, message: str, *, ready: bool) -> None:
        state = "ready" if ready else "notReady"
        status = {
            "state": state,
            "namespace": self.namespace,
            "conditions": conditions(cluster, reason, message, ready=ready),
        }
        self.api.set_status(kinds.GPU_CLUSTER, cluster, status)

    def _end(self, cluster: Object) -> float | None:
        """Let the pods with claims end while the plugin is there; then let the GPUCluster go, and all it has made."""
        for name in objects.CLAIMING:
            if self.own(kinds.DAEMON_SET, name):
                self.api.delete(kinds.DAEMON_SET, name, self.namespace)
        left = [pod for name in objects.CLAIMING for pod in self._pods(name)]
        if left:
            return AGAIN
        if cluster["metadata"].get("finalizers"):
            self.api.patch(kinds.GPU_CLUSTER, cluster["metadata"]["name"], {"metadata": {"finalizers": None}})
        return None

    def _pods(self, name: str) -> list[Object]:
        found: list[Object] = self.api.list(kinds.POD, self.namespace, f"app={name}")["items"]
        return found


def node_labels(node: Object, owner: str | None) -> dict[str, str | None]:
    """Return what the operator's labels on a node become beside a GPUCluster; None takes one away."""
    have = pods.labels(node)
    ours = {name for name in have if name.startswith(GPU_DEPLOY) or name == OWNER} - {ENABLED}
    if not has_gpu(node):
        return dict.fromkeys(ours) | ({PRESENT: "false"} if have.get(PRESENT) == "true" else {})
    labels: dict[str, str] = {}
    if have.get(ENABLED) != "false":
        host = pods.annotations(node).get(names.HOST_DRIVER) == "true"
        labels = {_DRIVER: PRE_INSTALLED if host else "true", **dict.fromkeys(objects.LABELS, "true")}
    return dict.fromkeys(ours - labels.keys()) | labels | {PRESENT: "true"} | ({OWNER: owner} if owner else {})


def conditions(cluster: Object, reason: str, message: str, *, ready: bool) -> list[Object]:
    """Return the conditions of a GPUCluster: whether it is ready, and why not."""
    return stated(
        cluster,
        {
            "Ready": (str(ready), reason if ready else "Error", message if ready else ""),
            "Error": (str(not ready), "Ready" if ready else reason, "" if ready else message),
        },
    )
