"""A small cluster with the controllers of JobSets and TrainJobs, Kueue, and a tenant with a queue."""

from typing import Any

from components.jobs.train_job import TrainingRuntime, TrainingRuntimeArgs
from components.operators.jobset_operator import JobSetOperator, JobSetOperatorArgs
from components.operators.kueue_operator import KueueOperator, KueueOperatorArgs
from components.operators.trainer import CONTROLLER, NAMESPACE, Trainer, TrainerArgs
from components.queues.kueue import Queues, QueuesArgs
from components.queues.quota import Quota
from components.tenants.tenant import IdRange, Tenant, TenantArgs
from core.apis import kinds
from tests.cluster.declaring import Declared, subscribe
from tests.support.queues import queues_of
from toolkit.simulator.actors.api import ENDPOINT_SLICE
from toolkit.simulator.actors.service_network import SERVICE_NAME
from toolkit.simulator.cluster import ClusterSpec, NodeSpec

Manifest = dict[str, Any]

TENANT, ELSEWHERE = "adas", "default"
"""A tenant with a queue of four CPUs, and a namespace without Kueue."""
IMAGE = "ghcr.io/kubeflow/trainer/trainer-controller-manager:v2.2.1"
SPEC = ClusterSpec(
    name="test-job-sets",
    nodes=(NodeSpec(name="worker01"), NodeSpec(name="worker02")),
    release="current",
    mpi="v2beta1",
    job_controllers=("cert_manager", "kueue", "jobset", "trainer"),
)


class Site(Declared):
    """The cluster, with the controller of TrainJobs and what Kueue has of the tenant's jobs."""

    def install(self) -> None:
        """Declare everything in the order of an installation."""
        for build in (_operators, _job_sets, _trainer):
            self.declare(build)
        self.api.eventually(lambda: self.available() and self.endpoints())
        for build in (_runtime, _kueue, _queue):
            self.declare(build)

    def available(self) -> str | None:
        """Return since when the controller of TrainJobs is available; None when it is not."""
        return self.api.condition(kinds.DEPLOYMENT, CONTROLLER, NAMESPACE, "Available")

    def endpoints(self) -> list[Manifest]:
        """Return the ready endpoints of its Service, which are known a moment after the pod is ready."""
        slices = self.api.list(ENDPOINT_SLICE, NAMESPACE, f"{SERVICE_NAME}={CONTROLLER}")["items"]
        return [one for found in slices for one in found.get("endpoints") or [] if one["conditions"]["ready"]]

    def queued(self, *names: str) -> dict[str, list[str]]:
        """Return the messages of the Workloads whose owners' names begin with one of `names`, by kind and name."""
        return {
            f"{owner['kind']} {owner['name']}": [
                condition["message"] for condition in (one.get("status") or {}).get("conditions") or []
            ]
            for one in self.api.list(kinds.WORKLOAD, TENANT)["items"]
            if (owner := one["metadata"]["ownerReferences"][0])["name"].startswith(names)
        }


def _operators() -> None:
    subscribe("openshift-cert-manager-operator", "job-set", "kueue-operator")


def _job_sets() -> None:
    JobSetOperator("jobset", JobSetOperatorArgs())


def _trainer() -> None:
    Trainer("trainer", TrainerArgs(image=IMAGE))


def _runtime() -> None:
    TrainingRuntime("torch-runtime", TrainingRuntimeArgs())


def _kueue() -> None:
    ids = IdRange(start=1075480000)
    Tenant(
        TENANT, TenantArgs(namespace=TENANT, uid_range=ids, mcs="s0:c26,c5", gpu_quota=0, scc_name=None, queued=True)
    )
    KueueOperator("kueue", KueueOperatorArgs(frameworks=("BatchJob", "JobSet", "TrainJob")))


def _queue() -> None:
    quotas = {TENANT: Quota(gpus=0, cpus=4, memory_gib=8)}
    args = queues_of(quotas, node_labels={"kubernetes.io/os": "linux"})
    Queues("queues", QueuesArgs.model_validate(args))
