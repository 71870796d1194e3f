"""What Kubeflow Trainer fixes: names, labels and limits of a TrainJob, its runtime, and the JobSet that comes of both.

Facts of kubeflow/trainer v2.2.1 (pkg/constants, pkg/runtime/framework/plugins/torch and jobset, pkg/webhooks) and of
kubernetes-sigs/jobset v0.12.0 (pkg/webhooks/jobset_webhook.go).
"""

from collections.abc import Mapping

ANCESTOR = "trainer.kubeflow.org/trainjob-ancestor-step"
"""Label of a runtime's replicated job: which step of a TrainJob it runs."""
STEP = "trainer"
"""Value of that label for the job that trains."""
NODE = "node"
"""Name of the replicated job that trains, and of the container in it that a TrainJob's `trainer` is about."""
PORT = 29500
"""Of the rendezvous."""
PATCH_MANAGER = "hpc.pulumi/job"
"""Who patches the runtime: a name with a domain, or the patch is refused."""
VARIABLES = frozenset({"PET_NNODES", "PET_NPROC_PER_NODE", "PET_NODE_RANK", "PET_MASTER_ADDR", "PET_MASTER_PORT"})
"""What the controller sets in the container `node`; a TrainJob that sets one itself is refused."""
RESERVED: Mapping[str, frozenset[str]] = {
    "torch": VARIABLES,
    "mpi": frozenset(f"OMPI_MCA_{name}" for name in ("plm_rsh_args", "orte_default_hostfile"))
    | {"OMPI_MCA_orte_keep_fqdn_hostnames", "OMPI_MCA_orte_set_default_slots"},
    "xgboost": frozenset(f"DMLC_{name}" for name in ("TRACKER_URI", "TRACKER_PORT", "TASK_ID", "NUM_WORKER")),
}
"""What the controller sets by the policy of a runtime (`spec.mlPolicy`); the webhook refuses TrainJobs that set it."""
LABEL_LENGTH = 63


def longest_pod(job: str, nodes: int) -> str:
    """Return the longest name of a pod of a TrainJob; JobSet refuses one that is not a DNS-1035 label."""
    return f"{job}-{NODE}-0-{nodes - 1}-abcde"


def head(job: str) -> str:
    """Return the DNS name of the first pod of a TrainJob, in its namespace."""
    return f"{job}-{NODE}-0-0.{job}"


def is_of(pod: str, job: str) -> bool:
    """Return whether a pod is one that trains in a TrainJob, by its name."""
    index, _, random = pod.removeprefix(f"{job}-{NODE}-0-").partition("-")
    return pod.startswith(f"{job}-{NODE}-0-") and index.isdigit() and bool(random) and "-" not in random
