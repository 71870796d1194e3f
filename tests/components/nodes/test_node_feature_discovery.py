"""Node Feature Discovery in both API generations."""

import json
from typing import Any

import pytest
import yaml
from pydantic import ValidationError

from components.nodes.node_feature_discovery import NodeFeatureDiscovery, NodeFeatureDiscoveryArgs
from core.apis import kinds
from core.apis.kinds import Kind
from tests.conformance.schema import expect_conformity
from tests.support.declared import Manifest, declared, faults
from tests.support.recorded import component, only_object

OLD, NEW = kinds.NODE_FEATURE_DISCOVERY_V1ALPHA1, kinds.NODE_FEATURE_DISCOVERY_V1
IMAGE = "quay.io/openshift/origin-node-feature-discovery:4.20"
TAINT = {"key": "maintenance", "effect": "NoExecute"}


def instance(kind: Kind, **changes: Any) -> Manifest:
    """Return the manifest of one generation."""
    usual = {"kind": kind, "namespace": "openshift-nfd", "instance": "nfd-instance"}
    args = NodeFeatureDiscoveryArgs.model_validate(usual | changes)
    (found,) = declared(lambda: NodeFeatureDiscovery("nfd", args))
    assert faults([found]) == []
    return found


@pytest.mark.parametrize("changes", [{}, {"operand_image": IMAGE, "worker": {"tolerations": (TAINT,)}}])
def test_todays_instance_has_the_shape_of_its_definition(changes: dict[str, Any]) -> None:
    """An instance of v1 matches its definition."""
    expect_conformity(instance(NEW, **changes))


def test_workers_find_gpus_and_adapters_in_either_mode() -> None:
    """Workers label GPUs, and adapters in Ethernet and InfiniBand mode."""
    (text,) = instance(NEW)["spec"]["workerConfig"].values()
    pci = {"deviceClassWhitelist": ["0200", "0207", "03", "12"], "deviceLabelFields": ["vendor"]}
    assert yaml.safe_load(text) == json.loads(text) == {"sources": {"pci": pci}}


def test_the_operator_keeps_its_operand_current() -> None:
    """The operand's image is the operator's unless set."""
    assert instance(NEW)["spec"]["operand"] == {}
    pinned = instance(NEW, operand_image=IMAGE, worker={"tolerations": (TAINT,)})["spec"]["operand"]
    assert pinned == {"image": IMAGE, "workerTolerations": [{**TAINT, "operator": "Exists"}]}


def test_generation_of_2020_is_as_it_was() -> None:
    """v1alpha1 has only its own three fields."""
    assert instance(OLD)["spec"] == {"namespace": "openshift-nfd"}
    assert instance(OLD, operand_image=IMAGE)["spec"] == {"namespace": "openshift-nfd", "image": IMAGE}
    assert "annotations" not in instance(OLD)["metadata"]
    with pytest.raises(ValidationError, match=r"nfd\.openshift\.io/v1alpha1 has no fields for it; leave it out"):
        instance(OLD, worker={})


def test_labels_are_there_before_who_selects_by_them() -> None:
    """GPU and RDMA plugins come after the node labels."""
    assert instance(NEW)["metadata"]["annotations"] == {
        "pulumi.com/waitFor": "condition=Available",
        "pulumi.com/timeoutSeconds": "1800",
    }


@pytest.mark.parametrize("wrong", ["200", "02000", "0x02", ""])
def test_a_wrong_class_is_refused(wrong: str) -> None:
    """A PCI class that matches no device is refused."""
    with pytest.raises(ValidationError, match="pci_classes"):
        instance(NEW, worker={"pci_classes": (wrong,)})


def test_one_instance_goes_before_the_other_comes() -> None:
    """An instance is deleted before its replacement is created."""
    usual = {"kind": NEW, "namespace": "openshift-nfd", "instance": "nfd-instance"}
    args = NodeFeatureDiscoveryArgs.model_validate(usual)
    recorded = component(lambda: NodeFeatureDiscovery("nfd", args))
    assert only_object(recorded, "NodeFeatureDiscovery").delete_before_replace
