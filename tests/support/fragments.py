"""Parts of settings, each of which is right somewhere: what a random stack is put together from.

`CHANGES` has, by path, what may stand there. A path through a list has `*`, which means all of its entries.
"""

import copy
import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from hypothesis import strategies as st

from stacks.loading.settings import whole
from stacks.programs import PROGRAMS
from stacks.releases import RELEASES
from stacks.settings.operators import OperatorSettings
from tests.support.recorded import OURS, ROOT

IMAGE = "quay.io/example/hpc:1"
Fragment = Any


def _read(stack: str) -> dict[str, Any]:
    content: dict[str, Any] = whole(stack, ROOT).data
    return content


WHOLE = [stack for stack in OURS if {"nodes", "tenants"} <= _read(stack).keys()]
"""Stacks of all layers; what can be changed of the others is the same."""


def _operator(namespace: str) -> dict[str, Any]:
    return {"namespace": namespace, "package": namespace, "channel": "stable"}


def _ports(count: int, rate: int, gpus: int) -> list[dict[str, Any]]:
    return [
        {
            "name": f"mlx5_{port}",
            "netdev": f"ens{port}",
            "numa": port * 2 // count,
            "gpus": [gpus * port + index for index in range(gpus)],
            "rate_gbps": rate,
        }
        | ({} if gpus else {"distance": None})
        for port in range(count)
    ]


_DAEMON_SET = {"kind": "daemon-set", "image": "mellanox/k8s-rdma-shared-dev-plugin:v1.0.0"}
_NETWORK_OPERATOR = {
    "kind": "network-operator",
    "operator": _operator("nvidia-network-operator"),
    "shared": {"version": "network-operator-v26.4.1"},
    "driver": {"version": "doca3.4.1-26.04-1.1.0.0-1"},
}
_PLUGINS = (
    _DAEMON_SET,
    _DAEMON_SET | {"host_ofed": True},
    _NETWORK_OPERATOR,
    _NETWORK_OPERATOR | {"driver": None},
    _NETWORK_OPERATOR | {"driver": None, "host_ofed": True},
)
_NMSTATE = {"operator": _operator("openshift-nmstate")}
_NETWORKS = {"subnets": [f"192.168.{10 + port}.0/24" for port in range(8)]}
_FABRICS = (
    *({"kind": "infiniband", "plugin": plugin} for plugin in _PLUGINS),
    {"kind": "infiniband", "plugin": _NETWORK_OPERATOR, "sharp": True, "hca_max": 10},
    *({"kind": "roce", "plugin": plugin, "networks": _NETWORKS} for plugin in _PLUGINS),
    {"kind": "roce", "plugin": _NETWORK_OPERATOR, "networks": {"subnets": _NETWORKS["subnets"][:4]}, "ports": _NMSTATE},
    {"kind": "ethernet"},
    {"kind": "ethernet", "interface": "net1"},
    {"kind": "ethernet", "bond": _NMSTATE},
    {"kind": "ethernet", "bond": _NMSTATE | {"ports": ["ens1", "ens2"], "mtu": 1500}},
    {"kind": "ethernet", "bond": _NMSTATE | {"ports": ["bond0", "ens2"]}},
    {"kind": "ethernet", "bond": _NMSTATE | {"ports": ["ens1", "ens1"]}},
)
_GPU_OPERATOR = {"enablement": "gpu-operator", "operator": _operator("nvidia-gpu-operator"), "driver": None}
_GPUS = (
    {"enablement": "device-plugin", "image": "nvidia/k8s-device-plugin:v0.17"},
    {"enablement": "special-resource-operator", "operator": _operator("openshift-sro")},
    _GPU_OPERATOR,
    _GPU_OPERATOR | {"driver": {"version": "580.95.05"}},
    _GPU_OPERATOR | {"driver": {"version": "595.91.07"}, "gdrcopy": True},
    _GPU_OPERATOR | {"mig": "single"},
    _GPU_OPERATOR | {"mig": "mixed", "monitoring": None},
)
_KUBELETS = (
    None,
    {"reserved": 2},
    {"reserved": 7},
    {"reserved": 400},
    {"topology_policy": "none", "memory_manager": True},
    {"topology_policy": "restricted"},
    {"topology_policy": "single-numa-node"},
)
_CLUSTERS = [
    {"id": "16217308676014575381", "gui_host": "192.168.1.30", "secret": "csisecret-local"},
    {"id": "215057217487177715", "gui_host": "192.168.1.52", "secret": "csisecret-remote"},
]
_STORAGE = {
    "operator": _operator("ibm-spectrum-scale-csi-driver"),
    "clusters": _CLUSTERS,
    "ca_certificate": _read("prod")["storage"]["ca_certificate"],
    "file_system": {"name": "ess3000_4M", "uid": "099B6A7A:5EB99743"},
}
_PRIMARY = {"primary": {"file_system": "fs0", "fileset": "csifset"}}
_NATIVE = _read("prod")["storage"]
_STORAGES = (
    None,
    _STORAGE | {"local_cluster": _CLUSTERS[0]["id"]},
    _STORAGE | {"host_path": "/gpfs/fs0", "clusters": [_CLUSTERS[0] | _PRIMARY, _CLUSTERS[1]]},
    _STORAGE | {"host_path": "/gpfs/fs0", "clusters": [_CLUSTERS[0] | _PRIMARY, _CLUSTERS[0]]},
    _NATIVE,
    _NATIVE | {"cluster_id": None, "classes": []},
    _NATIVE | {"rdma": {"link": "roce", "ports": ["mlx5_0/1"]}},
)
_CLASS = {"class_name": "scale", "file_system": "ess3000_4M", "cluster_id": _CLUSTERS[0]["id"]}
_VOLUMES = (
    {"kind": "independent-fileset", "inode_limit": 2048},
    {"kind": "dependent-fileset", "parent": "adas"},
    {"kind": "directory", "base_path": "volumes"},
    {"kind": "cache", "secret": "bucket"},
)
_DIRECTORY = {"kind": "directory", "volume": "lake", "claim": "lake", "path": "/gpfs/lake", "capacity": "100Gi"}
_DATA_VOLUMES: tuple[dict[str, Any], ...] = (
    {"kind": "claim", "claim": "data", "storage_class": "nfs", "capacity": "1Ti"},
    {"kind": "claim", "claim": "data", "storage_class": "scale", "capacity": "1Ti"},
    {"kind": "claim", "claim": "data", "storage_class": "static", "capacity": "1Ti"},
    _DIRECTORY,
    _DIRECTORY | {"fileset": "lake"},
    _DIRECTORY | {"fileset": 3},
    _DIRECTORY | {"fileset": "lake", "long_handle": True, "labels": {"dept": "adas"}},
    _DIRECTORY | {"capacity": "20Gi"},
)
_DATA: tuple[list[dict[str, Any]], ...] = ([], *([{"name": "data"} | volume] for volume in _DATA_VOLUMES))
_TENANT_VOLUMES: tuple[list[dict[str, Any]], ...] = (
    [],
    [{"name": "more", "kind": "claim", "claim": "more", "storage_class": "nfs", "capacity": "1Ti"}],
    [{"name": "scratch", "kind": "scratch", "storage_class": "lvms", "capacity": "1Ti"}],
    [{"name": "cache", "kind": "local", "claim": "cache", "storage_class": "lvms", "capacity": "1Ti"}],
    [_DIRECTORY | {"name": "lake", "read_only": True}],
)
_QUEUES = {"operator": _operator("openshift-kueue-operator") | {"own_namespace_only": False}}
_BUILD = {"name": "image", "tag": "1", "base": "nvcr.io/nvidia/tensorflow:24.03-tf2-py3"}
_SOURCES = (
    {"kind": "ngc"},
    {"kind": "horovod"},
    {"kind": "pytorch", "pytorch": "v1.1.0"},
    {
        "kind": "multi-node",
        "ofed": {"version": "5.2-2.2.4.0", "sha256": "ab" * 32},
        "nccl_tests": "v2.13.10",
        "perftest": "24.01.0-0.38",
    },
    {"kind": "inline", "containerfile": "FROM scratch\n"},
    {"kind": "git", "uri": "https://git.example.com/images", "ref": "v1"},
)
_REGISTRY = {"kind": "registry", "image": "quay.io/example/image:1", "push_secret": "push"}

CHANGES: Mapping[str, Sequence[Fragment]] = {
    "release": tuple(RELEASES),
    "machine_config_pool": ("worker", "gpu", "master"),
    "machine": ("dgx1-v100-16gb", "dgx1-v100-32gb", "dgx2h", "dgx-a100", "sys-4029gp-tvrt"),
    "nodes.*.scale_client": (True, False),
    "nodes.*.roles": (["worker"], ["master", "worker"]),
    "nodes.2.free_gpus": (0, 3),
    "ports": ([], _ports(4, 100, 2), _ports(8, 200, 1), _ports(8, 100, 2), _ports(4, 25, 0), _ports(4, 25, 2)),
    "reserve": (None, {"cpus": 8, "memory_gib": 0}, {"cpus": 24, "memory_gib": 200}, {"cpus": 200, "memory_gib": 1}),
    "tuning": (
        None,
        {},
        {"rail_names": True},
        {"selinux": "permissive", "nouveau": True, "iommu_passthrough": False, "kubelet": None},
        {"further_arguments": ["hugepages=16"], "at_once": "50%"},
        {"further_arguments": ["iommu=off"]},
        {"further_arguments": ["selinux=0"]},
        {"further_arguments": ["two words"]},
    ),
    "tuning.kubelet": _KUBELETS,
    "node_feature_discovery": (None, _operator("openshift-nfd")),
    "gpu": _GPUS,
    "fabric": _FABRICS,
    "mpi_operator": (
        None,
        {"image": "mpioperator/mpi-operator:0.8.2"},
        {
            "image": "mpioperator/mpi-operator:v0.2.3",
            "kubectl_delivery_image": "mpioperator/kubectl-delivery:v0.2.3",
        },
    ),
    "operators": ({}, *({name: {}} for name in OperatorSettings.model_fields), {"cert_manager": {"channel": "x"}}),
    "storage": _STORAGES,
    "storage.classes": (
        [],
        [_CLASS, _CLASS],
        [_CLASS | {"expandable": True, "uid": 7, "reclaim_policy": "Delete"}],
        *([_CLASS | {"volumes": volumes}] for volumes in _VOLUMES),
    ),
    "queues": (
        None,
        _QUEUES,
        _QUEUES | {"strategy": "StrictFIFO"},
        _QUEUES | {"cohort": "all", "reclaim": "Any", "launchers": {"cpus": 1, "memory_gib": 1}},
        _QUEUES | {"reclaim": "Any"},
    ),
    "priority_classes": (
        [],
        [{"class_name": "training", "value": 1000, "purpose": "training"}],
        [{"class_name": "training", "value": value, "purpose": "training"} for value in (1, 2)],
    ),
    "pull_secret": (None, {"registries": ["nvcr.io"]}, {"name": "pull", "registries": ["nvcr.io", "nvcr.io"]}),
    "protect": (True, False),
    "tenants.*.gpu_quota": (0, 8, 9999, {"training": 8}),
    "tenants.*.volumes": _DATA,
    "tenants.0.volumes": (*_TENANT_VOLUMES, *_DATA),
    "tenants.*.isolated": (True, False),
    "tenants.*.reachable_from": ([], ["openshift-monitoring"], ["nowhere"]),
    "tenants.*.container_resources": (None, {"cpu": "500m", "memory": "1Gi"}),
    "tenants.0.mcs": ("s0:c1,c2", "s0:c2,c28", "s0:c7,c7"),
    "tenants.0.uid_range": ({"start": 1075470000, "size": 20000}, {"start": 1075480000, "size": 2**31}),
    "tenants.0.run_as_gid": (7, 2**32),
    "tenants.0.namespace": ("default", "kube-system", "openshift-nfd", "nvidia-gpu-operator", "1st"),
    "builds": (
        [],
        *([_BUILD | {"source": source}] for source in _SOURCES),
        [_BUILD | {"source": {"kind": "ngc"}, "to": _REGISTRY, "at_once": False}],
    ),
}
"""What may stand where."""

_STARTED = st.fixed_dictionaries(
    {},
    optional={
        "precision": st.sampled_from(["tf32", "fp32"]),
        # One time in four: most stacks have no such class.
        "priority": st.sampled_from([None, None, None, "training"]),
        "shm_gib": st.sampled_from([1, 8, 512]),
        "on_change": st.sampled_from(["replace", "keep"]),
        "wait": st.sampled_from(["started", "finished"]),
        "environment": st.sampled_from([{"SEED": "1"}, {"NCCL_DEBUG": "INFO"}, {"NCCL_IB_DISABLE": "1"}]),
    },
)
_LAYOUTS = ({"pods": 1, "gpus": 8}, {"pods": 2, "gpus": 8}, {"pods": 4, "gpus": 1}, None)
_OF_KIND: Mapping[str, st.SearchStrategy[dict[str, Any]]] = {
    "mpi": st.fixed_dictionaries(
        {"layout": st.sampled_from(_LAYOUTS)},
        optional={
            "transport": st.sampled_from(["tcp", "infiniband", "gpudirect"]),
            "debug": st.just(value=True),
            "launcher": st.sampled_from([{"cpu": "250m", "memory": "1Gi"}, {"cpu": "16", "memory": "64Gi"}]),
        },
    ),
    "job": st.fixed_dictionaries({"gpus": st.sampled_from([1, 2, 8, 16])}),
    "rdma-test": st.fixed_dictionaries(
        {"image": st.just(IMAGE), "hca": st.sampled_from(["mlx5_0", "mlx5_0", "mlx5_1", "mlx5_9"])}
    ),
}


@st.composite
def workloads(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Draw up to three workloads; their tenants and nodes are named where they are put."""
    drawn = []
    for index in range(draw(st.integers(1, 3))):
        kind = draw(st.sampled_from(["mpi", "job", "rdma-test"]))
        workload = {"kind": kind, "name": f"job-{index}"} | draw(_OF_KIND[kind])
        if kind != "rdma-test":
            fitting = [name for name, program in PROGRAMS.items() if kind in program.kinds]
            workload |= {"program": draw(st.sampled_from(fitting))} | draw(_STARTED)
            workload |= draw(st.sampled_from([{"build": "image"}, *[{"image": IMAGE}] * 3]))
        if "layout" in workload and workload["layout"] is None:
            workload["gpus"] = draw(st.sampled_from([1, 4, 6, 24]))
        drawn.append(workload)
    return drawn


@st.composite
def stacks(draw: st.DrawFn) -> dict[str, Any]:
    """Draw a stack of the project with up to four changes, and with its own jobs, with others or without any."""
    content: dict[str, Any] = copy.deepcopy(unchanged(draw(st.sampled_from(WHOLE))))
    # Parents before what is in them.
    for path in sorted(draw(st.lists(st.sampled_from(sorted(CHANGES)), max_size=4, unique=True))):
        change(content, path, draw(st.sampled_from(CHANGES[path])))
    jobs = draw(st.sampled_from(["own", "none", "others"]))
    if jobs != "own":
        content["stages"] = [{"name": "all", "workloads": draw(workloads())}] if jobs == "others" else []
    return _named(content)


@cache
def unchanged(name: str) -> dict[str, Any]:
    """Return a stack to start from, with fewer machines of a kind."""
    content = _read(name)
    # What names nodes and jobs of the whole machine park.
    content = {key: value for key, value in content.items() if key not in ("site", "suite")}
    for node in content["nodes"]:
        # Eight machines show what 140 do, in a fraction of the time.
        node["name"] = node["name"].replace("[001-140]", "[001-008]")
    for tenant in content["tenants"] if content["nodes"] != _read(name)["nodes"] else ():
        quota = tenant["gpu_quota"]
        tenant["gpu_quota"] = 20 if isinstance(quota, int) and quota > 32 else quota
    for stage in content["stages"]:
        for workload in stage["workloads"]:
            if "server_node" in workload:
                workload["server_node"] = workload["server_node"].replace("dgx140", "dgx008")
            layout = workload.get("layout")
            if isinstance(layout, dict) and layout.get("pods") == 20:
                workload["layout"] = {"pods": 4, "gpus": 8}
    return content


def change(content: dict[str, Any], path: str, value: Fragment) -> None:
    """Put a fragment at a path; where what it is part of is not there, nothing changes."""
    if path == "machine":
        for node in content["nodes"]:
            if "machine" in node:
                node["machine"] = value
        return
    *parents, last = path.split(".")
    parts: list[Any] = [content]
    for parent in parents:
        parts = [entry for part in parts for entry in _entries(part, parent)]
    for part in parts:
        if isinstance(part, dict):
            part[last] = copy.deepcopy(value)


def _entries(part: Any, name: str) -> list[Any]:
    if isinstance(part, list):
        return part if name == "*" else part[int(name) : int(name) + 1]
    return [part[name]] if isinstance(part, dict) and name in part else []


def _named(content: dict[str, Any]) -> dict[str, Any]:
    """Name tenants and nodes in jobs and builds, and volumes after their tenants."""
    first = content["tenants"][0]["namespace"]
    names = [tenant["namespace"] for tenant in content["tenants"]]
    nodes = [node["name"] for node in content["nodes"] if node.get("machine") or node.get("pool")]
    for build in content.get("builds", []):
        build["tenant"] = build.get("tenant") if build.get("tenant") in names else first
    for stage in content.get("stages", []):
        for workload in stage["workloads"]:
            workload["tenant"] = workload.get("tenant") if workload.get("tenant") in names else first
            if workload.get("build") == "image":
                built = [image["name"] for image in content.get("builds", []) if image["tenant"] == workload["tenant"]]
                workload["build"] = built[0] if built else "image"
            if workload.get("priority"):
                classes = content.get("priority_classes") or [{"class_name": "training"}]
                workload["priority"] = classes[0]["class_name"]
            if workload["kind"] == "rdma-test" and nodes:
                workload.setdefault("client_node", _first(nodes[0]))
                workload.setdefault("server_node", _last(nodes[-1]))
    for tenant in content["tenants"]:
        for data in (volume for volume in tenant.get("volumes") or [] if volume.get("volume") == "lake"):
            data["volume"] = f"{tenant['namespace']}-lake"
            mounted = (content.get("storage") or {}).get("mounted_as")
            data["path"] = f"{f'/mnt/{mounted}' if mounted else '/gpfs'}/{tenant['namespace']}"
    return content


def _first(name: str) -> str:
    return re.sub(r"\[(\d+)-\d+\]", r"\1", name)


def _last(name: str) -> str:
    return re.sub(r"\[\d+-(\d+)\]", r"\1", name)
