"""Special Resource Operator of 2020 (v1alpha1): driver, device plugin and monitoring for the recipe nvidia-gpu."""

from apis import kinds
from simulator.actors import grants, pods, rbac
from simulator.actors.api import Object
from simulator.actors.conditions import same_status
from simulator.actors.informer import Informer, Key
from simulator.actors.podactor import PodActor, daemon_set, played, ready

RECIPE = "nvidia-gpu"
HAS_GPU = "feature.node.kubernetes.io/pci-10de.present"
DRIVER = "nvidia-gpu-driver-container"
PLUGIN = "nvidia-gpu-device-plugin"
MONITORING = "nvidia-gpu-node-exporter"
IMAGES = {
    DRIVER: "quay.io/openshift-psap/nvidia-driver-container:v440.64",
    PLUGIN: "nvcr.io/nvidia/k8s-device-plugin:1.0.0-beta6",
    MONITORING: "nvcr.io/nvidia/dcgm-exporter:1.7.2",
}


class SpecialResourceOperator(PodActor):
    """For the SpecialResource nvidia-gpu: a namespace of that name with the recipe's DaemonSets."""

    kind = kinds.SPECIAL_RESOURCE_V1ALPHA1
    _resources: Informer
    _daemon_sets: Informer

    def start(self) -> None:
        """Watch the custom resource and the recipe's DaemonSets."""
        loop = self.loop(self._reconcile)
        every = ("", "")
        self._daemon_sets = self.watch(kinds.DAEMON_SET, loop, namespace=RECIPE, key=every)
        self._resources = self.watch(self.kind, loop, namespace=self.namespace, key=every)

    def _reconcile(self, _key: Key) -> float | None:
        if not (self._resources.synced and self._daemon_sets.synced):
            return None
        recipe = self._resources.get(RECIPE, self.namespace)
        if recipe is None or pods.deleting(recipe):
            if any(True for _ in self._daemon_sets.items()):
                self.api.delete(kinds.NAMESPACE, RECIPE)
            return None
        return self._install(recipe)

    def _install(self, recipe: Object) -> float | None:
        """Make driver first, and the rest once it is ready, as the operator's states follow one another."""
        namespace = self.api.find(kinds.NAMESPACE, RECIPE)
        if namespace is not None and pods.deleting(namespace):
            return 1.0
        if self._daemon_sets.get(DRIVER, RECIPE) is None:
            body = {
                "apiVersion": kinds.NAMESPACE.api_version,
                "kind": kinds.NAMESPACE.kind,
                "metadata": {"name": RECIPE, "annotations": played("special resource operator")},
            }
            self.make([(kinds.NAMESPACE, body), *_account(DRIVER), *_set(DRIVER)])
        driver_ready = ready([self._daemon_sets.get(DRIVER, RECIPE)])
        rest = [self._daemon_sets.get(name, RECIPE) for name in (PLUGIN, MONITORING)]
        if driver_ready and None in rest:
            for name in (PLUGIN, MONITORING):
                self.make([*_account(name), *_set(name)])
        status = {"state": "Ready" if driver_ready and ready(rest) else "Progressing"}
        if not same_status(recipe, status):
            self.api.patch(self.kind, RECIPE, {"status": status}, self.namespace, sub="status")
        return None


def _account(name: str) -> grants.Grant:
    return grants.account(RECIPE, name, (rbac.use_scc("privileged"),))


def _set(name: str) -> grants.Grant:
    pod = {
        "serviceAccountName": name,
        "nodeSelector": {HAS_GPU: "true"},
        "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}],
        # A kernel module cannot be loaded, nor the kubelet's sockets be reached, with less.
        "hostPID": name == DRIVER,
        "containers": [{"name": name, "image": IMAGES[name], "securityContext": {"privileged": True}}],
    }
    return [daemon_set(RECIPE, name, pod, "special resource operator")]
