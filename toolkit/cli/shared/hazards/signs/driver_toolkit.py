"""Nodes whose drivers are compiled in OpenShift's Driver Toolkit, and for whose system there is none.

The GPU Operator looks for the node's OSTREE_VERSION, a label of node feature discovery, among the tags in the spec of
the ImageStream (controllers/object_controls.go, ocpHasDriverToolkitImageStream).
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from core.apis import kinds, names
from policies.manifests.values import entries, mapping, read
from stacks.settings.platform import Settings
from toolkit.cli.shared import metadata
from toolkit.cli.shared.hazards import nodes
from toolkit.cli.shared.hazards.hazard import Hazard
from toolkit.cli.shared.hazards.hazard import nodes as place
from toolkit.cli.shared.hazards.live import Live

Object = Mapping[str, Any]
_MISSING, _OLD = "driver-toolkit-missing", "node-features-old"
_STREAM, _NAMESPACE = "driver-toolkit", "openshift"
_WHERE = f"ImageStream {_NAMESPACE}/{_STREAM}"
_AGAIN = f"Delete it, OpenShift makes it again from its release: `oc delete imagestream -n {_NAMESPACE} {_STREAM}`."
_RHCOS = "Red Hat Enterprise Linux CoreOS"
_SOURCE = "NVIDIA's troubleshooting of the GPU Operator on OpenShift; github.com/NVIDIA/gpu-operator/issues/319, 990"
_DRIVER_LABEL = f"{names.GPU_DEPLOY}driver"


def hazards(_: Settings, live: Live) -> Iterator[Hazard]:
    """Yield versions of the nodes' system without a toolkit, and nodes whose label is of another version."""
    compiled = compiling(live)
    if not compiled:
        return
    without = [node for node in compiled if _features(node) and not _version(node)]
    if without:
        cause = f"node feature discovery gives no label {nodes.OSTREE_VERSION}, by which operators find the toolkit"
        yield Hazard(_OLD, place(nodes.named(without)), cause, "Update the NFD operator.", _SOURCE)
    for node in compiled:
        image = str(read(node, "status", "nodeInfo", "osImage") or "")
        if (version := _version(node)) and image.startswith(_RHCOS) and version not in image:
            cause = f"label {nodes.OSTREE_VERSION} is {version}, but the node runs {image}: drivers are of the former"
            remedy = "Delete the pod nfd-worker of the node; once the label is right, restart the GPU Operator's pod."
            yield Hazard(_OLD, place([metadata.name(node)]), cause, remedy, _SOURCE)
    yield from _missing(compiled, live)


def _missing(compiled: Sequence[Object], live: Live) -> Iterator[Hazard]:
    listed = {version for node in compiled if (version := _version(node))}
    if not listed:
        return
    stream = live.find(kinds.IMAGE_STREAM, _NAMESPACE, _STREAM)
    if stream is None:
        live.needed(kinds.IMAGE_STREAM, _NAMESPACE)
        cause = f"it does not exist, and drivers of {_named(compiled, listed)} are compiled in its images"
        remedy = "OpenShift's samples operator and release make it; see `oc get clusteroperator openshift-samples`."
        yield Hazard(_MISSING, _WHERE, cause, remedy, _SOURCE)
        return
    tags = entries(stream, "spec", "tags")
    if any(not read(tag, "name") for tag in tags):
        yield Hazard(_MISSING, _WHERE, "it has a tag without a name, and operators ignore it", _AGAIN, _SOURCE)
    known = {str(read(tag, "name")) for tag in tags if read(tag, "from")}
    for version in sorted(listed - known):
        cause = f"it has no tag {version}, in whose image drivers of {_named(compiled, {version})} are compiled"
        yield Hazard(_MISSING, _WHERE, cause, _AGAIN, _SOURCE)


def _named(compiled: Sequence[Object], versions: set[str]) -> str:
    return place(nodes.named(node for node in compiled if _version(node) in versions))


def compiling(live: Live) -> list[Object]:
    """Return the nodes on which a container compiles a driver: of the GPUs, or of the adapters."""
    gpu = any(map(_compiles, live.list(kinds.CLUSTER_POLICY)))
    policies = (*live.list(kinds.NIC_CLUSTER_POLICY), *live.list(kinds.NIC_NODE_POLICY))
    adapters = any(mapping(policy, "spec", "ofedDriver") for policy in policies)
    if not (gpu or adapters):
        return []
    return [
        node
        for node in live.list(kinds.NODE)
        if (gpu and nodes.has_gpu(node) and metadata.labels(node).get(_DRIVER_LABEL, "true") == "true")
        or (adapters and nodes.has_adapter(node))
    ]


def _compiles(policy: Object) -> bool:
    return (
        read(policy, "spec", "driver", "enabled") is not False
        and read(policy, "spec", "driver", "usePrecompiled") is not True
        and read(policy, "spec", "operator", "use_ocp_driver_toolkit") is not False
        and read(policy, "status", "state") != "ignored"
    )


def _version(node: Object) -> str:
    return metadata.labels(node).get(nodes.OSTREE_VERSION, "")


def _features(node: Object) -> bool:
    return metadata.labels(node).get(f"{names.NODE_FEATURE}system-os_release.ID") == "rhcos"
