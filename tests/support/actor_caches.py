"""Pods and nodes as the actors' caches have them, without a cluster."""

import json
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType, SimpleNamespace
from typing import Any

from core.hardware.profiles import profile
from toolkit.simulator import names
from toolkit.simulator.actors import devices, launcher

CONFIG = json.dumps(
    {
        "configList": [
            *({"resourceName": f"shared_ib{i}", "rdmaHcaMax": 9, "devices": [f"ib{i}"]} for i in range(4)),
            {"resourceName": "none", "rdmaHcaMax": 9, "devices": ["ib9"]},
        ]
    }
)


def node(name: str, **annotations: str) -> dict[str, Any]:
    """Return a DGX-1."""
    return {"metadata": {"name": name, "annotations": {names.PROFILE: "dgx1-v100-16gb", **annotations}}}


def pod(name: str, on: str, image: str = "tensorflow", **fields: Any) -> dict[str, Any]:
    """Return a running pod of one container."""
    limits = fields.pop("limits", {})
    container = {"name": "c", "image": f"example/{image}:440.33.01", "resources": {"limits": limits}}
    meta = {"name": name, "uid": name, "namespace": "ns"}
    for key in ("labels", "annotations"):
        meta[key] = fields.pop(key, {})
    ready = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}], "podIP": "10.1.2.3"}
    return {"metadata": meta, "spec": {"nodeName": on, "containers": [container | fields]}, "status": ready}


PLUGIN = pod(
    "plugin",
    "a",
    "k8s-rdma-shared-dev-plugin",
    annotations={names.RDMA_DEVICES: json.dumps(devices.rdma_interfaces(CONFIG, {f"ib{i}" for i in range(4)}))},
)
RDMA = {f"rdma/shared_ib{i}": "1" for i in range(4)}
NO_HOME = Path("no-home")
MARKS = {launcher.JOB_NAME: "job"}


def runtime(
    *pods: dict[str, Any],
    nodes: tuple[dict[str, Any], ...],
    hostfile: str = "",
    home: Path = NO_HOME,
    networks: Mapping[str, Any] = MappingProxyType({}),
) -> Any:
    """Return a cluster as the kubelet sees it; `networks` are configurations by namespace/name."""
    definitions = {name: {"spec": {"config": json.dumps(config)}} for name, config in networks.items()}
    bound = {entry["metadata"]["name"]: entry for entry in pods}
    by_name = {entry["metadata"]["name"]: entry for entry in nodes}
    return SimpleNamespace(
        nodes=SimpleNamespace(items=by_name.values, get=by_name.get),
        pods=SimpleNamespace(items=bound.values, get=lambda name, _: bound.get(name)),
        running_on=lambda name: [entry for entry in pods if entry["spec"]["nodeName"] == name],
        profile=lambda entry: profile(entry["metadata"]["annotations"][names.PROFILE]),
        config_maps=SimpleNamespace(get=lambda *_: {"data": {"hostfile": hostfile}}),
        networks=SimpleNamespace(get=lambda name, namespace: definitions.get(f"{namespace}/{name}")),
        pod_mtu=8900,
        settings=SimpleNamespace(home=home),
    )
