"""A small cluster with the controllers of all kinds of jobs, where a node is missed after seconds."""

import re
from datetime import datetime
from pathlib import Path
from typing import Any

from components.base.scheduling import Taint, Toleration, TopologyLevel
from components.jobs.train_job import TrainingRuntime, TrainingRuntimeArgs
from components.operators.jobset_operator import JobSetOperator, JobSetOperatorArgs
from components.operators.kueue_operator import KueueOperator, KueueOperatorArgs
from components.operators.mpi_operator import MpiOperator, MpiOperatorArgs
from components.operators.trainer import CONTROLLER, NAMESPACE, Trainer, TrainerArgs
from components.queues.kueue import Queues, QueuesArgs
from components.queues.quota import Quota
from components.tenants.mpi_scc import MpiScc, MpiSccArgs
from components.tenants.tenant import IdRange, Tenant, TenantArgs
from core.apis import kinds, names, topology
from core.apis.kinds import Kind
from tests.cluster.declaring import Declared, subscribe
from tests.cluster.losses import jobs
from tests.cluster.losses.jobs import LAUNCHERS, TAINT
from tests.support import platform
from tests.support.queues import queues_of
from tests.support.user import User
from toolkit.cli.status.stuck import OUT_OF_SERVICE, Stuck, stuck
from toolkit.simulator import names as simulated
from toolkit.simulator import pods
from toolkit.simulator.actors.api import ENDPOINT_SLICE, ApiError
from toolkit.simulator.actors.service_network import SERVICE_NAME
from toolkit.simulator.cluster import ClusterSpec, NodeSpec

Manifest = dict[str, Any]

NODES = tuple(f"dgx{number:02}" for number in range(1, 13))
CONTROLLERS, LAUNCHING = "worker01", ("worker02", "worker03")
"""Where all controllers are, and where launchers run."""
RACKS = {name: f"rack-{1 + at // 3}" for at, name in enumerate(NODES)} | dict.fromkeys(LAUNCHING, "rack-0")
GPU_TAINT = {"key": TAINT, "effect": "NoSchedule"}
GPUS = 8
GRACE = 8
"""Seconds after which a node is missed, in the place of 50."""
SPEC = ClusterSpec(
    name="test-losses",
    nodes=(
        *(NodeSpec(name=name, profile="dgx-a100", taints=(GPU_TAINT,)) for name in NODES),
        *(NodeSpec(name=name) for name in (CONTROLLERS, *LAUNCHING)),
    ),
    release="current",
    mpi="v2beta1",
    job_controllers=("cert_manager", "kueue", "jobset", "trainer"),
    node_grace_seconds=GRACE,
)
PLAIN, NEAR, ELSEWHERE = "adas", "maps", "default"
"""A tenant whose queue counts quotas, one whose queue places pods on nodes, and a namespace without Kueue."""
IDS = {PLAIN: IdRange(start=1075480000), NEAR: IdRange(start=1075490000)}
MPI = kinds.MPI_JOB_V2BETA1
PARTS = {"driver": "nvcr.io/nvidia/driver:580", "plugin": "nvcr.io/nvidia/k8s-device-plugin:v0.17.0"}
TRAINER_IMAGE = "ghcr.io/kubeflow/trainer/trainer-controller-manager:v2.2.1"


def operators() -> None:
    """Declare the operators of Kueue, JobSet and MPI jobs."""
    subscribe("openshift-cert-manager-operator", "job-set", "kueue-operator")
    MpiOperator("mpi", MpiOperatorArgs(kind=MPI, image="mpioperator/mpi-operator:0.8.2"))


def job_sets() -> None:
    """Declare JobSet."""
    JobSetOperator("jobset", JobSetOperatorArgs())


def trainer() -> None:
    """Declare Trainer."""
    Trainer("trainer", TrainerArgs(image=TRAINER_IMAGE))


def tenants() -> None:
    """Declare the runtime of TrainJobs, both tenants and Kueue."""
    TrainingRuntime("torch-runtime", TrainingRuntimeArgs())
    scc = MpiSccArgs(base="restricted-v2")
    MpiScc("scc", scc)
    for number, namespace in enumerate((PLAIN, NEAR)):
        args = TenantArgs(
            namespace=namespace,
            uid_range=IDS[namespace],
            mcs=f"s0:c26,c{5 + number}",
            gpu_quota=64,
            scc_name=scc.scc_name,
            queued=True,
        )
        Tenant(namespace, args)
    KueueOperator("kueue", KueueOperatorArgs(frameworks=("BatchJob", "MPIJob", "TrainJob")))


def queues() -> None:
    """Declare a queue for each tenant: by quotas alone, and by racks and nodes."""
    quota = Quota(gpus=GPUS * len(NODES), cpus=100, memory_gib=400)
    common: Manifest = {
        "node_labels": {"kubernetes.io/os": "linux"},
        "taints": (Taint(key=TAINT),),
        "tolerations": (Toleration(key=TAINT),),
    }
    Queues("queues", QueuesArgs.model_validate(queues_of({PLAIN: quota}, **common)))
    by_fabric = queues_of({NEAR: quota}, **common, levels=(TopologyLevel(name="leaf"),))
    Queues("near-queues", QueuesArgs.model_validate(by_fabric))


class Site(Declared):
    """The cluster, its machines and its jobs."""

    def __init__(self, api: User, home: Path) -> None:
        super().__init__(api)
        self.home = home

    def install(self) -> None:
        """Declare everything in the order of an installation."""
        self.cordon(*LAUNCHING)
        for build in (operators, job_sets, trainer):
            self.declare(build)
        self.api.eventually(self._endpoints)
        self.declare(tenants)
        for node, rack in RACKS.items():
            launching = LAUNCHERS if node in LAUNCHING else {}
            labels = {topology.LABELS["leaf"]: rack, **launching}
            self.api.patch(kinds.NODE, node, {"metadata": {"labels": labels}})
        self.declare(queues)
        for node in NODES:
            for part, image in PARTS.items():
                spec: Manifest = {
                    "nodeName": node,
                    "tolerations": [{"operator": "Exists"}],
                    "containers": [{"name": part, "image": image}],
                }
                self.api.apply(kinds.POD, platform.obj(kinds.POD, f"{part}-{node}", "kube-system", spec=spec))
        for namespace in (PLAIN, NEAR):
            amounts = {"requests": {"storage": "1Gi"}}
            spec = {"storageClassName": "sim-files", "accessModes": ["ReadWriteMany"], "resources": amounts}
            claim = platform.obj(kinds.PERSISTENT_VOLUME_CLAIM, jobs.CLAIM, namespace, spec=spec)
            self.api.apply(kinds.PERSISTENT_VOLUME_CLAIM, claim)
        for node in NODES:
            self.api.eventually(lambda name=node: self.api.offers(name, names.GPU_RESOURCE) == GPUS)  # type: ignore[misc]
        self.cordon(CONTROLLERS)
        self.cordon(*LAUNCHING, cordoned=False)

    def _endpoints(self) -> list[Manifest]:
        slices = self.api.list(ENDPOINT_SLICE, NAMESPACE, f"{SERVICE_NAME}={CONTROLLER}")["items"]
        return [one for found in slices for one in found.get("endpoints") or [] if one["conditions"]["ready"]]

    def mark(self, node: str, **annotations: str | None) -> None:
        """Set annotations of the simulator on a node."""
        marks = {f"{simulated.PREFIX}{name.replace('_', '-')}": text for name, text in annotations.items()}
        self.api.annotate(kinds.NODE, node, marks)

    def cordon(self, *nodes: str, cordoned: bool = True) -> None:
        """Take nodes from the scheduler, or give them back."""
        for node in nodes:
            self.api.patch(kinds.NODE, node, {"spec": {"unschedulable": cordoned}})

    def submit(self, kind: jobs.Name, name: str, namespace: str, **changes: Any) -> None:
        """Create a job."""
        for made, body in jobs.manifests(kind, name, namespace, IDS[namespace].start + 1000, **changes):
            self.api.create(made, body, namespace)

    def ranks(self, name: str, namespace: str) -> list[Manifest]:
        """Return the pods of a job that have GPUs."""
        return [pod for pod in self.api.pods(namespace) if _is_rank(pod, name)]

    def numbers(self, name: str, namespace: str, pattern: re.Pattern[str]) -> list[tuple[float, int]]:
        """Return time (s since 1970) and number of each line of a job's pods that has one, also of pods that are gone.

        The pattern has the number as its group.
        """
        files = (self.home / "pods").glob(f"{namespace}_{name}-*/*.log")
        stamped = sorted(line.split(" stdout F ", 1) for file in files for line in file.read_text().splitlines())
        return [
            (datetime.fromisoformat(stamp).timestamp(), int(found[1]))
            for stamp, text in stamped
            if (found := pattern.match(text))
        ]

    def stuck(self) -> dict[str, Stuck]:
        """Return what `./hpc status` shows as stuck, by its place."""

        def everything(kind: Kind) -> list[Manifest]:
            try:
                return [*self.api.list(kind)["items"]]
            except ApiError as error:  # of Node Health Check, which this cluster does not have
                if not error.missing:
                    raise
                return []

        return {found.place: found for found in stuck(everything)}

    def fence(self, *nodes: str) -> None:
        """Say that machines are surely off, as an administrator or a remediation does."""
        for node in nodes:
            taints = self.api.get(kinds.NODE, node)["spec"].get("taints") or []
            out = {"key": OUT_OF_SERVICE, "value": "nodeshutdown", "effect": "NoExecute"}
            self.api.patch(kinds.NODE, node, {"spec": {"taints": [*taints, out]}})

    def ready(self, node: str) -> bool:
        """Return whether a node is Ready."""
        return pods.condition(self.api.get(kinds.NODE, node), "Ready")

    def mend(self) -> None:
        """Remove all jobs, switch all machines on, and wait until all GPUs are offered again."""
        for namespace in (PLAIN, NEAR):
            for kind in (*jobs.KINDS.values(), kinds.TRAINING_RUNTIME):
                for made in self.api.list(kind, namespace)["items"]:
                    self.api.delete(kind, made["metadata"]["name"], namespace)
        for node in (*NODES, *LAUNCHING):
            self.mark(node, lost=None, faults=None)
            self.cordon(node, cordoned=False)
        for node in (*NODES, *LAUNCHING):
            self.api.eventually(lambda name=node: self.ready(name))  # type: ignore[misc]
            taints = self.api.get(kinds.NODE, node)["spec"].get("taints") or []
            if any(taint["key"] == OUT_OF_SERVICE for taint in taints):
                kept = [taint for taint in taints if taint["key"] != OUT_OF_SERVICE]
                self.api.patch(kinds.NODE, node, {"spec": {"taints": kept}})
        for node in NODES:
            self.api.eventually(lambda name=node: self.api.offers(name, names.GPU_RESOURCE) == GPUS)  # type: ignore[misc]
        self.api.eventually(lambda: not [*self.api.pods(PLAIN), *self.api.pods(NEAR)])


def _is_rank(pod: Manifest, name: str) -> bool:
    return pod["metadata"]["name"].startswith(f"{name}-") and names.GPU_RESOURCE in pods.limits(pod)
