"""Labels of nodes: what a stack's objects select by is set by something in that stack, at its release."""

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from core.apis import names, topology
from stacks.loading.settings import load
from stacks.releases import RELEASES
from stacks.settings.cluster import NodeSettings
from stacks.settings.layers import TenantsLayer
from stacks.settings.platform import Settings
from tests.support import node_features
from tests.support.recorded import OURS, ROOT, before, environment, of_kind, spec
from toolkit.render.recorder import Registration
from toolkit.simulator.actors import nfd_v1alpha1

TABLE: Mapping[str, Any] = yaml.safe_load(Path(__file__).with_name("node_labels.yaml").read_text())
STACKS = OURS
REAL = pytest.mark.engine
"""It asks the real worker of node feature discovery, which is built with Go."""
Selector = tuple[tuple[str, frozenset[str] | None], ...]
"""Labels that a node must have, each with the values that do; None: any."""

_IN = {"key": "a", "operator": "In", "values": ["b"]}
_ABSENT = {"key": "c", "operator": "DoesNotExist"}


def _terms(value: Mapping[str, Any]) -> Iterator[Selector]:
    """Yield the selector of a label selector or a term of a node affinity; what must not be there is left out."""
    pairs = (value.get("matchLabels") or {}).items()
    labels: list[tuple[str, frozenset[str] | None]] = [(key, frozenset({text})) for key, text in pairs]
    for each in value.get("matchExpressions") or ():
        if each["operator"] in ("In", "Exists"):
            labels.append((each["key"], frozenset(each["values"]) if each["operator"] == "In" else None))
    if labels:
        yield tuple(labels)


def _selectors(value: Any) -> Iterator[Selector]:
    """Yield how parts of a manifest select nodes, also in JSON below a key of a ConfigMap."""
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            yield from _selectors(json.loads(value))
        except ValueError:
            return
    if isinstance(value, list | tuple):
        for each in value:
            yield from _selectors(each)
    if not isinstance(value, Mapping):
        return
    for key, part in value.items():
        if key.lower().endswith("nodeselector") or key in ("nodeLabels", names.PROJECT_NODE_SELECTOR):
            yield from _selected(part)
        elif key in ("nodeLabel", topology.REQUIRED, topology.PREFERRED):
            yield ((part, None),)
        elif key in ("nodeSelectorTerms", "preference"):
            for term in [part] if isinstance(part, Mapping) else part:
                yield from _terms(term)
        else:
            yield from _selectors(part)


def _selected(part: Any) -> Iterator[Selector]:
    """Yield a selector in one of its forms: labels, a label selector, or pairs of key and value."""
    if isinstance(part, str):  # an annotation of a namespace
        part = dict(pair.split("=", 1) for pair in part.split(",") if pair)
    if isinstance(part, list | tuple):
        part = {pair["key"]: pair["value"] for pair in part}
    if {"matchLabels", "matchExpressions"} & part.keys():
        yield from _terms(part)
    elif part:
        yield tuple((key, frozenset({value})) for key, value in part.items())


def _of_an_operator(item: Registration) -> Iterator[Selector]:
    kind = item.type.rpartition(":")[2]
    for entry in TABLE["selected"]:
        if entry["by"] == kind:
            # One of several labels is enough: where a node has one, the others need not be there.
            yield tuple((label, None) for label in entry["one_of"])


def _pci_configuration(recorded: Iterable[Registration], settings: Settings) -> str | None:
    """Return what workers of node feature discovery read: the object's, or what its generation has built in."""
    objects = of_kind(recorded, "NodeFeatureDiscovery")
    if not objects:
        return None
    own = objects[0].inputs["spec"].get("workerConfig")
    labels = settings.version.node_feature_labels
    if own or labels is None:
        return str((own or {}).get("configData", ""))
    pci = {"deviceClassWhitelist": labels.pci_classes, "deviceLabelFields": labels.fields}
    return json.dumps({"sources": {"pci": pci}})


def _labels(node: NodeSettings, recorded: tuple[Registration, ...], settings: Settings) -> dict[str, str | None]:
    """Return the labels that a node gets from what the stack declares, at its release; None: a value of any kind."""
    labels: dict[str, str | None] = {}
    there = {item.type.rpartition(":")[2] for item in recorded}
    for entry in TABLE["set"]:
        right = settings.release not in entry.get("not_on", ()) and entry.get("role", node.roles[0]) in node.roles
        if right and ("with" not in entry or (entry["with"] in there and node.machine)):
            labels |= entry["labels"]
    for patch in of_kind(recorded, "NodePatch"):
        if patch.inputs["metadata"]["name"] == node.name:
            labels |= patch.inputs["metadata"]["labels"]
    configuration = _pci_configuration(recorded, settings)
    pool = settings.pool_with(node.name)
    if configuration is not None and pool:
        labels |= node_features.labels(pool.machine, configuration)
    return labels


def _has(labels: Mapping[str, str | None], label: str, values: frozenset[str] | None) -> bool:
    return label in labels and (values is None or labels[label] is None or labels[label] in values)


def _whole(stack: str) -> tuple[Registration, ...]:
    """Return what a stack declares, and the platform of one that has tenants alone."""
    settings = load(stack, ROOT)
    return (*environment(stack), *(environment(settings.platform) if isinstance(settings, TenantsLayer) else ()))


def unset(recorded: tuple[Registration, ...], settings: Settings) -> list[str]:
    """Return what selects by labels that no node of the stack gets: the object, the labels, and the release."""
    nodes = [_labels(node, recorded, settings) for node in settings.nodes]
    wrong = []
    for item in recorded:
        if not item.is_kubernetes:
            continue
        own = ((each, all) for each in _selectors(item.inputs))
        for selector, needed in (*own, *((each, any) for each in _of_an_operator(item))):
            if not any(needed(_has(labels, *label) for label in selector) for labels in nodes):
                shown = ", ".join(
                    f"{label}={'|'.join(sorted(values))}" if values is not None else label for label, values in selector
                )
                name = f"{item.type.rpartition(':')[2]} {item.inputs['metadata'].get('name')}"
                wrong.append(f"{name} selects nodes by {shown}, which nothing sets on OpenShift {settings.release}")
    return wrong


@pytest.mark.parametrize(
    "manifest",
    [
        {"spec": {"nodeSelector": {"a": "b"}}},
        {"spec": {"nodeSelector": {"matchLabels": {"a": "b"}}}},
        {"spec": {"pluginNodeSelector": [{"key": "a", "value": "b"}]}},
        {"metadata": {"annotations": {"openshift.io/node-selector": "a=b"}}},
        {"nodeAffinity": {"x": {"nodeSelectorTerms": [{"matchExpressions": [_IN, _ABSENT]}]}}},
        {"nodeAffinity": {"x": [{"preference": {"matchExpressions": [_IN]}}]}},
        {"nodeLabels": {"a": "b"}},
        {"data": {"job.json": json.dumps({"items": [{"nodeSelector": {"a": "b"}}]})}},
    ],
)
def test_selectors_are_found_in_each_of_their_forms(manifest: dict[str, Any]) -> None:
    """The selector of a manifest is read in every form that kinds have for it; what must be absent is left out."""
    assert [*_selectors(manifest)] == [(("a", frozenset({"b"})),)]


@REAL
@pytest.mark.parametrize("stack", STACKS)
def test_every_label_that_a_stack_selects_by_is_set(stack: str) -> None:
    """A node of the stack has the labels of every selector: of the kubelet, the stack, operators at its release."""
    assert unset(_whole(stack), load(stack, ROOT)) == []


@REAL
def test_a_label_that_the_release_does_not_set_is_reported() -> None:
    """A selector by a label that nothing sets at the release is reported with its object, label and release."""
    recorded = environment("redpaper-4.4")
    (plugin,) = of_kind(recorded, "DaemonSet")
    label = "feature.node.kubernetes.io/pci-15b3.present"
    pod = {**plugin.inputs["spec"]["template"]["spec"], "nodeSelector": {label: "true"}}
    changed = Registration(**{**vars(plugin), "inputs": {**plugin.inputs, "spec": {"template": {"spec": pod}}}})
    assert unset((*recorded, changed), load("redpaper-4.4", ROOT)) == [
        f"DaemonSet rdma-shared-dp-ds selects nodes by {label}=true, which nothing sets on OpenShift 4.4"
    ]


@REAL
def test_the_rdma_plugin_runs_on_the_machines_alone() -> None:
    """The RDMA plugin reaches every machine of the stack, and no worker without ports beside them."""
    settings, recorded = load("redpaper-4.4", ROOT), environment("redpaper-4.4")
    selector = spec(recorded, "DaemonSet")["template"]["spec"]["nodeSelector"]
    reached = [node.name for node in settings.nodes if selector.items() <= _labels(node, recorded, settings).items()]
    assert reached == ["dgx01.ocp4.scale.ibm.com", "dgx02.ocp4.scale.ibm.com"]
    assert any(node.machine is None and "worker" in node.roles for node in settings.nodes)


def test_the_rdma_plugin_comes_after_its_labels() -> None:
    """The plugin's DaemonSet comes after the nodes' labels, without which it has no pod and counts as ready."""
    recorded = environment("dev")
    (plugin,) = of_kind(recorded, "DaemonSet")
    all_of = {item.urn: item for item in recorded}
    assert {each.urn for each in of_kind(recorded, "NodePatch")} <= {each.urn for each in before(plugin, all_of)}


@REAL
@pytest.mark.parametrize("stack", STACKS)
def test_a_node_of_others_with_the_same_devices_is_not_selected(stack: str) -> None:
    """DaemonSets, network policies, the NicClusterPolicy and flavors of queues need labels of the stack's own.

    A flavor with a topology needs the labels of its levels: Kueue places pods on no other node.
    """
    recorded, settings = _whole(stack), load(stack, ROOT)
    assert {node.name for node in settings.gpu_nodes} <= {
        patch.inputs["metadata"]["name"]
        for patch in of_kind(recorded, "NodePatch")
        if patch.inputs["metadata"]["labels"].get(names.GPU_NODE) == "true"
    }
    unlabelled = tuple(item for item in recorded if not item.type.endswith(":NodePatch"))
    other = {**_labels(settings.gpu_nodes[0], unlabelled, settings), "kubernetes.io/hostname": "other"}
    reached = [
        item.urn
        for kind in ("DaemonSet", "NodeNetworkConfigurationPolicy", "NicClusterPolicy", "ResourceFlavor")
        for item in of_kind(recorded, kind)
        if "topologyName" not in item.inputs["spec"]
        and all(_has(other, *label) for selector in _selectors(item.inputs) for label in selector)
    ]
    assert reached == []


@pytest.mark.parametrize("stack", STACKS)
def test_pools_that_are_selected_are_there(stack: str) -> None:
    """What configures a machine config pool selects it by a label that the stack gives it."""
    recorded = _whole(stack)
    pools = [pool.inputs["metadata"]["labels"].items() for pool in of_kind(recorded, "MachineConfigPool")]
    selectors = [item.inputs["spec"]["machineConfigPoolSelector"] for item in of_kind(recorded, "KubeletConfig")]
    assert all(any(each["matchLabels"].items() <= pool for pool in pools) for each in selectors)


def test_the_simulated_operator_of_4_4_has_the_classes_of_its_release() -> None:
    """The simulated operator's fixed configuration is the one that the release's file gives with its source."""
    labels = RELEASES["4.4"].node_feature_labels
    assert labels
    assert {
        "deviceClassWhitelist": [*labels.pci_classes],
        "deviceLabelFields": [*labels.fields],
    } == nfd_v1alpha1.PCI
