"""Parts of the platform of the Redpaper as bare manifests, for tests that do not need the program."""

import json
from typing import Any

from core.apis import kinds
from core.apis.kinds import Kind
from toolkit.simulator.actors import grants
from toolkit.simulator.manifests import manifest

obj = manifest
Object = dict[str, Any]
LAB = "ocp4.scale.ibm.com"
DGX = (f"dgx01.{LAB}", f"dgx02.{LAB}")
TENANT = "adas"
CSI = "ibm-spectrum-scale-csi-driver"
SECRETS = ("csisecret-local", "csisecret-remote")
RDMA = "rdma-shared-dp-ds"
RDMA_IMAGE = "mellanox/k8s-rdma-shared-dev-plugin:v1.0.0"


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
