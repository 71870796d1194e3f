"""OpenShift's own pods on every node: what they ask for is not there for a job with all GPUs of a machine."""

from toolkit.simulator import manifests
from toolkit.simulator.manifests import Manifest

# Exempt from SCC admission, as the agents' own namespaces are by accounts of theirs.
NAMESPACE = "openshift-infra"
NAME = "node-agents"
# DaemonSets of OpenShift 4.12, as `oc describe node` prints their requests: thousandths of a CPU, MiB.
REQUESTS = {
    "tuned": (10, 50),
    "dns-default": (60, 110),
    "node-resolver": (5, 21),
    "node-ca": (10, 10),
    "ingress-canary": (10, 20),
    "machine-config-daemon": (40, 100),
    "node-exporter": (9, 47),
    "multus": (10, 65),
    "multus-additional-cni-plugins": (10, 10),
    "network-metrics-daemon": (20, 120),
    "network-check-target": (10, 15),
    "sdn": (110, 220),
}


def daemon_set() -> Manifest:
    """Return one DaemonSet in the place of all: 140 nodes would have 1,680 pods, and only the sum matters."""
    cpu, memory = (sum(column) for column in zip(*REQUESTS.values(), strict=True))
    container = {
        "name": NAME,
        "image": "simulated/openshift-node-agents:0",
        "resources": {"requests": {"cpu": f"{cpu}m", "memory": f"{memory}Mi"}},
    }
    pod = {
        "hostNetwork": True,
        "priorityClassName": "system-node-critical",
        "tolerations": [{"operator": "Exists"}],
        "containers": [container],
    }
    return manifests.daemon_set(NAMESPACE, NAME, pod, "the agents of OpenShift")[1]
