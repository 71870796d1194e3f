"""What IBM's manifest of container-native Storage Scale installs, as far as it is simulated.

On a real cluster an administrator applies it: install.yaml of IBM/ibm-spectrum-scale-container-native, 5.2.3.1. Here
are three of its namespaces, five of its kinds, both operators with their rights, and the SCC of core pods; no GUI, no
monitoring, no webhooks.
"""

from core.apis import kinds
from core.apis.names import SCALE_CSI_NAMESPACE, SCALE_NAMESPACE
from toolkit.simulator.access.rbac import OWN, READ, Rule
from toolkit.simulator.actors import grants
from toolkit.simulator.actors.api import SCALE_DAEMON
from toolkit.simulator.actors.package import COMMON, FLAG, TEXT, Definition, list_of, operates, structure
from toolkit.simulator.actors.packages.scale_csi import THREE
from toolkit.simulator.actors.scale_operator import ACCOUNT
from toolkit.simulator.manifests import Manifest, deployment, manifest

OPERATOR_NAMESPACE = "ibm-spectrum-scale-operator"
CONTROLLER = "ibm-spectrum-scale-controller-manager"
BY = "IBM's manifest"
_OPERATOR = "ibm-spectrum-scale-operator"
_GUI = structure({"secretName": TEXT, "csiSecretName": TEXT, "cacert": TEXT, "hosts": list_of(TEXT)}, "secretName")
_LICENSE = structure({"accept": FLAG | {"enum": [True]}, "license": TEXT}, "accept", "license")
_REMOTE = structure({"cluster": TEXT, "fs": TEXT}, "cluster", "fs")
_DEFINITIONS = (
    Definition(kinds.SCALE_CLUSTER, structure({"license": _LICENSE, "daemon": structure()}, "license")),
    Definition(kinds.SCALE_REMOTE_CLUSTER, structure({"contactNodes": list_of(TEXT), "gui": _GUI}, "gui")),
    Definition(kinds.SCALE_FILE_SYSTEM, structure({"remote": _REMOTE})),
    Definition(SCALE_DAEMON, structure()),
    *THREE.definitions,
)
_RULES = (
    *COMMON,
    *operates(kinds.SCALE_CLUSTER, kinds.SCALE_REMOTE_CLUSTER, kinds.SCALE_FILE_SYSTEM, SCALE_DAEMON),
    Rule((kinds.CSI_SCALE_OPERATOR.group,), (kinds.CSI_SCALE_OPERATOR.plural,), OWN),
    Rule(("",), ("pods", "secrets"), OWN),
    Rule(("",), ("nodes",), READ),
)


def namespaces_and_definitions() -> list[Manifest]:
    """Return the namespaces and kinds."""
    spaces = (SCALE_NAMESPACE, SCALE_CSI_NAMESPACE, OPERATOR_NAMESPACE)
    return [
        *(manifest(kinds.NAMESPACE, name) for name in spaces),
        *(definition.manifest() for definition in _DEFINITIONS),
    ]


def operators() -> list[Manifest]:
    """Return both operators with their accounts and rights, and the account and SCC of core pods."""
    parts = [
        grants.service_account(SCALE_NAMESPACE, ACCOUNT),
        grants.scc(
            "ibm-spectrum-scale-privileged",
            SCALE_NAMESPACE,
            [ACCOUNT],
            allowHostPorts=True,
            allowedCapabilities=["*"],
            requiredDropCapabilities=[],
            fsGroup={"type": "RunAsAny"},
            volumes=["*"],
        ),
        *_operator(OPERATOR_NAMESPACE, CONTROLLER, _OPERATOR, f"icr.io/cpopen/{_OPERATOR}:v5.2.3.1", _RULES),
        *_operator(
            SCALE_CSI_NAMESPACE,
            THREE.account,
            THREE.account,
            f"icr.io/cpopen/{THREE.account}:v2.14.1",
            THREE.rules,
        ),
    ]
    return [body for _, body in parts]


def _operator(namespace: str, name: str, account: str, image: str, rules: tuple[Rule, ...]) -> grants.Grant:
    pod = {"serviceAccountName": account, "containers": [{"name": "manager", "image": image}]}
    return [
        grants.service_account(namespace, account),
        *grants.cluster_wide(name, namespace, account, rules),
        deployment(namespace, name, pod, BY),
    ]
