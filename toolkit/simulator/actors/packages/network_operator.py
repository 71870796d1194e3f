"""NVIDIA's network operator."""

from dataclasses import replace

from core.apis import kinds
from toolkit.simulator.access.rbac import OWN, READ, Rule
from toolkit.simulator.actors import images
from toolkit.simulator.actors.network_operator import NetworkOperator
from toolkit.simulator.actors.package import (
    COMMON,
    NUMBER,
    PRIVILEGED,
    TEXT,
    Bundle,
    Definition,
    Package,
    operates,
    structure,
)

OWNED = (kinds.NIC_CLUSTER_POLICY, kinds.NIC_NODE_POLICY, kinds.MACVLAN_NETWORK, kinds.HOST_DEVICE_NETWORK)
_OPERAND = structure(dict.fromkeys(("image", "repository", "version"), TEXT), "image", "repository", "version")
_PORT = {"networkNamespace": TEXT, "ipam": TEXT}
_MODE = {"type": "string", "enum": ["bridge", "private", "vepa", "passthru"]}
_OPERANDS = dict.fromkeys(("ofedDriver", "rdmaSharedDevicePlugin", "sriovDevicePlugin"), _OPERAND)
_SPECS = (
    structure(_OPERANDS),
    structure({**_OPERANDS, "nodeSelector": {"type": "object", "additionalProperties": TEXT}}),
    structure({**_PORT, "master": TEXT, "mode": _MODE, "mtu": NUMBER}),
    structure({**_PORT, "resourceName": TEXT}),
)
BUNDLE = Bundle(
    versions=("nvidia-network-operator.v26.4.1",),
    definitions=tuple(Definition(kind, spec) for kind, spec in zip(OWNED, _SPECS, strict=True)),
    account="nvidia-network-operator-controller-manager",
    rules=(
        *COMMON,
        PRIVILEGED,
        *operates(*OWNED),
        Rule(("",), ("nodes",), (*READ, "patch", "update")),
        Rule(("",), ("namespaces",), READ),
        Rule((kinds.NETWORK_ATTACHMENT_DEFINITION.group,), (kinds.NETWORK_ATTACHMENT_DEFINITION.plural,), OWN),
    ),
    image="nvcr.io/nvidia/cloud-native/network-operator:v26.4.1",
    modes=frozenset({"OwnNamespace", "SingleNamespace"}),
)


def _other(version: str) -> Bundle:
    """Return the bundle of another version.

    It brings the same kinds, though real ones before 26.4 have no NicNodePolicy: settings refuse that with them.
    """
    return replace(
        BUNDLE,
        versions=(f"nvidia-network-operator.v{version}",),
        image=f"nvcr.io/nvidia/cloud-native/network-operator:v{version}",
    )


PACKAGES = (
    Package(
        name="nvidia-network-operator",
        title="NVIDIA Network Operator",
        sources=("certified-operators",),
        channels={
            "v26.4": BUNDLE,
            "stable": BUNDLE,
            "v26.7": _other("26.7.0"),
            "v26.1": _other("26.1.2"),
            "v25.10": _other("25.10.0"),
        },
    ),
)
ACTORS = ((images.NETWORK_OPERATORS, "", NetworkOperator),)
