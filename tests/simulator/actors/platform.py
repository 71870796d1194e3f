"""The platform of the Redpaper as bare manifests, for tests of the actors that do not need the program."""

import json
from typing import Any

from apis import kinds
from apis.kinds import Kind
from simulator.actors import grants, rbac
from simulator.actors.package import Definition, structure
from simulator.manifests import deployment, manifest

obj = manifest
Object = dict[str, Any]
LAB = "ocp4.scale.ibm.com"
DGX = (f"dgx01.{LAB}", f"dgx02.{LAB}")
TENANT = "adas"
CSI = "ibm-spectrum-scale-csi-driver"
NFD = "openshift-nfd"
SRO = "openshift-sro"
SECRETS = ("csisecret-local", "csisecret-remote")
RDMA = "rdma-shared-dp-ds"
RDMA_IMAGE = "mellanox/k8s-rdma-shared-dev-plugin:v1.0.0"
GIVEN_MEMLOCK = "[Service]\nLimitMEMLOCK=infinity\n"


def subscribed(package: str, namespace: str, *, channel: str, source: str, **spec: Any) -> list[tuple[Kind, Object]]:
    """Return namespace, operator group and subscription."""
    wanted = {"name": package, "channel": channel, "source": source, "sourceNamespace": "openshift-marketplace", **spec}
    return [
        (kinds.NAMESPACE, obj(kinds.NAMESPACE, namespace)),
        (kinds.OPERATOR_GROUP, obj(kinds.OPERATOR_GROUP, "group", namespace, spec={"targetNamespaces": [namespace]})),
        (kinds.SUBSCRIPTION, obj(kinds.SUBSCRIPTION, package, namespace, spec=wanted)),
    ]


def config_json(*names: str) -> str:
    """Return the RDMA plugin's configuration."""
    return json.dumps(
        {"configList": [{"resourceName": name, "rdmaHcaMax": 100, "devices": [name[-3:]]} for name in names]}
    )


def rdma(*names: str) -> list[tuple[Kind, Object]]:
    """Return the RDMA plugin: ConfigMap, account, DaemonSet."""
    label = {"name": RDMA}
    container = {
        "name": RDMA,
        "image": RDMA_IMAGE,
        "volumeMounts": [{"name": "config", "mountPath": "/k8s-rdma-shared-dev-plugin"}],
    }
    pod = {
        "serviceAccountName": RDMA,
        "hostNetwork": True,
        "nodeSelector": {"feature.node.kubernetes.io/pci-15b3.present": "true"},
        "containers": [container],
        "volumes": [{"name": "config", "configMap": {"name": "rdma-devices"}}],
    }
    spec = {"selector": {"matchLabels": label}, "template": {"metadata": {"labels": label}, "spec": pod}}
    data = {"config.json": config_json(*names)}
    return [
        grants.service_account("kube-system", RDMA),
        (kinds.CONFIG_MAP, obj(kinds.CONFIG_MAP, "rdma-devices", "kube-system", data=data)),
        (kinds.DAEMON_SET, obj(kinds.DAEMON_SET, RDMA, "kube-system", spec=spec)),
    ]


def machine_config() -> Object:
    """Return the memlock drop-in."""
    unit = {"name": "crio.service", "dropins": [{"name": "10-memlock.conf", "contents": GIVEN_MEMLOCK}]}
    config = {"ignition": {"version": "2.2.0"}, "systemd": {"units": [unit]}}
    labels = {"machineconfiguration.openshift.io/role": "worker"}
    return obj(kinds.MACHINE_CONFIG, "50-worker-crio-memlock", labels=labels, spec={"config": config})


MPI_RULES: list[Object] = [
    {"apiGroups": [""], "resources": ["configmaps", "serviceaccounts"], "verbs": ["create", "list", "watch"]},
    {"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list", "watch"]},
    {"apiGroups": [""], "resources": ["pods/exec"], "verbs": ["create"]},
    {"apiGroups": [""], "resources": ["events"], "verbs": ["create", "patch"]},
    {
        "apiGroups": ["rbac.authorization.k8s.io"],
        "resources": ["roles", "rolebindings"],
        "verbs": ["create", "list", "watch"],
    },
    {"apiGroups": ["apps"], "resources": ["statefulsets"], "verbs": ["create", "list", "update", "watch"]},
    {"apiGroups": ["batch"], "resources": ["jobs"], "verbs": ["create", "list", "update", "watch"]},
    {
        "apiGroups": ["kubeflow.org"],
        "resources": ["mpijobs", "mpijobs/finalizers", "mpijobs/status"],
        "verbs": ["*"],
    },
]


def mpi_operator() -> list[tuple[Kind, Object]]:
    """Return the MPI operator: definition, namespace, account, rights, Deployment."""
    name = "mpi-operator"
    crd = kinds.CUSTOM_RESOURCE_DEFINITION
    binding = rbac.cluster_role_binding(name, rbac.account_subject(name, name))
    pod = {
        "serviceAccountName": name,
        "containers": [{"name": name, "image": "mpioperator/mpi-operator:v0.2.3", "args": ["-alsologtostderr"]}],
    }
    return [
        (crd, Definition(kinds.MPI_JOB_V1ALPHA2, structure()).manifest()),
        (kinds.NAMESPACE, obj(kinds.NAMESPACE, name)),
        grants.service_account(name, name),
        (kinds.CLUSTER_ROLE, obj(kinds.CLUSTER_ROLE, name, rules=MPI_RULES)),
        (kinds.CLUSTER_ROLE_BINDING, binding),
        deployment(name, name, pod, "the program"),
    ]


def storage() -> list[tuple[Kind, Object]]:
    """Return tenant, static volume and claim."""
    handle = "16217308676014575381;099B6A7A:5EB99743;path=/gpfs/ess3000_4M/adas"
    common = {"storageClassName": "static", "accessModes": ["ReadWriteMany"]}
    volume = {
        **common,
        "capacity": {"storage": "100Gi"},
        "claimRef": {"name": "data", "namespace": TENANT},
        "csi": {"driver": "spectrumscale.csi.ibm.com", "volumeHandle": handle},
    }
    claim = {**common, "volumeName": "data-pv", "resources": {"requests": {"storage": "100Gi"}}}
    return [
        (kinds.NAMESPACE, obj(kinds.NAMESPACE, TENANT)),
        (kinds.PERSISTENT_VOLUME, obj(kinds.PERSISTENT_VOLUME, "data-pv", spec=volume)),
        (kinds.PERSISTENT_VOLUME_CLAIM, obj(kinds.PERSISTENT_VOLUME_CLAIM, "data", TENANT, spec=claim)),
    ]


def secret(name: str) -> Object:
    """Return one GUI secret."""
    return obj(kinds.SECRET, name, CSI, stringData={"username": "invented", "password": "invented"})


def scale() -> Object:
    """Return the CSIScaleOperator."""
    ids = ("16217308676014575381", "16217308676014575382")
    clusters = [
        {"id": ids[n], "restApi": [{"guiHost": f"192.0.2.{n}"}], "secrets": name, "secureSslMode": False}
        for n, name in enumerate(SECRETS)
    ]
    selector = [{"key": "scale", "value": "true"}]
    selectors = {f"{part}NodeSelector": selector for part in ("attacher", "provisioner", "plugin")}
    spec = {"scaleHostpath": "/gpfs/fs0", "clusters": clusters, **selectors}
    return obj(kinds.CSI_SCALE_OPERATOR, "ibm-spectrum-scale-csi", CSI, spec=spec)


def mpi_job(name: str, workers: int, gpus: int) -> Object:
    """Return an MPIJob whose workers mount the claim."""
    limits = {"nvidia.com/gpu": gpus, "rdma/shared_ib0": 1}
    image = "nvcr.io/nvidia/tensorflow:20.03-tf2-py3"
    worker = {
        "containers": [
            {
                "name": "worker",
                "image": image,
                "resources": {"limits": limits},
                "volumeMounts": [{"name": "data", "mountPath": "/workspace"}],
            }
        ],
        "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}],
    }
    launcher = {
        "containers": [
            {"name": "launcher", "image": image, "command": ["mpirun", "-np", str(gpus * workers), "hostname"]}
        ]
    }
    spec = {
        "slotsPerWorker": gpus,
        "cleanPodPolicy": "Running",
        "backoffLimit": 0,
        "mpiReplicaSpecs": {
            "Launcher": {"replicas": 1, "restartPolicy": "Never", "template": {"spec": launcher}},
            "Worker": {"replicas": workers, "template": {"spec": worker}},
        },
    }
    return obj(kinds.MPI_JOB_V1ALPHA2, name, TENANT, spec=spec)


def rdma_test(name: str, node: str) -> Object:
    """Return the paper's RDMA test of a node (R-4.1-2), of one HCA."""
    job = batch_job(name, "ib_write_bw dgx02 -d mlx5_1", nodeName=node)
    job["spec"]["template"]["spec"]["containers"][0]["resources"] = {"limits": {"rdma/shared_ib1": 1}}
    return job


def batch_job(name: str, command: str, **pod: Any) -> Object:
    """Return a batch Job of one try."""
    container = {
        "name": "main",
        "image": "mellanox/centos_7_4_mofed_4_2_1_2_0_0_60:latest",
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "command": ["/bin/sh", "-c"],
        "args": [command],
    }
    spec = {"restartPolicy": "Never", "containers": [container], **pod}
    return obj(kinds.JOB, name, TENANT, spec={"backoffLimit": 0, "template": {"spec": spec}})
