"""Special Resource Operator, of 2020."""

from core.apis import kinds
from toolkit.simulator import pods
from toolkit.simulator.access import rbac
from toolkit.simulator.access.rbac import OWN, READ, Rule
from toolkit.simulator.actors import grants, images
from toolkit.simulator.actors.api import Object
from toolkit.simulator.actors.package import COMMON, PRIVILEGED, Bundle, Definition, Package, operates, structure
from toolkit.simulator.actors.podactor import HERE, Operator, ready
from toolkit.simulator.manifests import daemon_set, manifest, simulated_by

BY = "special resource operator"
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


class SpecialResourceOperator(Operator):
    """For the SpecialResource nvidia-gpu: a namespace of that name with the recipe's DaemonSets."""

    kind = kinds.SPECIAL_RESOURCE_V1ALPHA1
    watched = ((kind, HERE), (kinds.DAEMON_SET, RECIPE))

    def reconcile(self) -> float | None:
        """Reconcile the recipe's namespace, or remove it with its SpecialResource."""
        recipe = self.own(self.kind, RECIPE)
        if recipe is None or pods.deleting(recipe):
            if self.objects(kinds.DAEMON_SET):
                self.api.delete(kinds.NAMESPACE, RECIPE)
            return None
        return self._install(recipe)

    def _install(self, recipe: Object) -> float | None:
        """Make driver first, and the rest once it is ready, as the operator's states follow one another."""
        namespace = self.api.find(kinds.NAMESPACE, RECIPE)
        if namespace is not None and pods.deleting(namespace):
            return 1.0
        if self.caches[kinds.DAEMON_SET].get(DRIVER, RECIPE) is None:
            body = manifest(kinds.NAMESPACE, RECIPE, annotations=simulated_by(BY))
            self.make([(kinds.NAMESPACE, body), *_account(DRIVER), *_set(DRIVER)])
        driver_ready = ready([self.caches[kinds.DAEMON_SET].get(DRIVER, RECIPE)])
        rest = [self.caches[kinds.DAEMON_SET].get(name, RECIPE) for name in (PLUGIN, MONITORING)]
        if driver_ready and None in rest:
            for name in (PLUGIN, MONITORING):
                self.make([*_account(name), *_set(name)])
        state = "Ready" if driver_ready and ready(rest) else "Progressing"
        self.api.set_status(self.kind, recipe, {"state": state})
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
    return [daemon_set(RECIPE, name, pod, BY)]


BUNDLE = Bundle(
    versions=("special-resource-operator.v0.0.1",),
    definitions=(Definition(kinds.SPECIAL_RESOURCE_V1ALPHA1, structure()),),
    account="special-resource-operator",
    rules=(
        *COMMON,
        PRIVILEGED,
        *operates(kinds.SPECIAL_RESOURCE_V1ALPHA1),
        Rule(("",), ("namespaces",), OWN),
        Rule(("",), ("nodes",), READ),
    ),
    image="quay.io/openshift-psap/special-resource-operator:release-4.4",
)

PACKAGES = (
    Package(
        name="special-resource-operator",
        title="Special Resource Operator",
        sources=("redhat-operators", "community-operators"),
        channels={"4.4": BUNDLE},
    ),
)
ACTORS = ((images.SRO_OPERATORS, "", SpecialResourceOperator),)
