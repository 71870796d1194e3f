"""Objects that several tests of reviews change."""

from tests.support.reviews import made
from toolkit.review.model import Resource

VOLUME = made(
    "core/v1:PersistentVolume",
    {
        "metadata": {"name": "pv"},
        "spec": {"csi": {"driver": "spectrumscale.csi.ibm.com"}, "persistentVolumeReclaimPolicy": "Retain"},
    },
)
CLAIM = made(
    "core/v1:PersistentVolumeClaim", {"metadata": {"name": "claim", "namespace": "a"}, "spec": {"volumeName": "pv"}}
)
SPACE = made("core/v1:Namespace", {"metadata": {"name": "a"}})


def job(gpus: int, device: str = "rdma/ib0", pods: int = 2) -> Resource:
    """Return an MPIJob."""
    container = {"name": "c", "resources": {"limits": {"nvidia.com/gpu": gpus, device: 1}}}
    worker = {"replicas": pods, "template": {"spec": {"containers": [container]}}}
    return made(
        "kubeflow.org/v2beta1:MPIJob",
        {"metadata": {"name": "j", "namespace": "a"}, "spec": {"mpiReplicaSpecs": {"Worker": worker}}},
    )
