"""A TrainJob sets no variable that Kubeflow Trainer sets itself."""

from collections.abc import Iterator

from core.apis.kinds import TRAIN_JOB
from core.apis.trainer import RESERVED
from policies.findings import Severity
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.manifests.train_jobs import runtime_named
from policies.rule import Parameters, Rule

_ENV = ("spec", "trainer", "env")


def _examine(subject: Obj, _: Inventory, __: Parameters) -> Iterator[Violation]:
    policies = subject.runtime.mapping("spec", "mlPolicy").keys() if subject.runtime is not None else RESERVED.keys()
    reserved = frozenset[str]().union(*(RESERVED.get(policy, ()) for policy in policies))
    for index, entry in enumerate(subject.entries(*_ENV)):
        name = entry.get("name") if isinstance(entry, dict) else None
        if not isinstance(name, str) or name not in reserved:
            continue
        place = (*_ENV, index, "name")
        if subject.runtime is None:
            condition = f"and {runtime_named(subject.tree)}, which may reserve it, is not among the objects"
            yield subject.unlinked(f"sets {name}, {condition}", *place)
        else:
            yield subject.violation(f"sets {name}, which Kubeflow Trainer reserves", *place)


TRAIN_JOB_VARIABLES = Rule(
    name="train-job-variables",
    what="A TrainJob sets no variable that Kubeflow Trainer sets for its kind of runtime: PET_* of torchrun, DMLC_* of "
    "XGBoost, and those of Open MPI's hostfile.",
    why="The webhook refuses the TrainJob: `spec.trainer.env: Invalid value: must not have reserved envs, invalid envs "
    "configured: [PET_NNODES]`.",
    remedy="Delete the variable: numNodes, numProcPerNode and resourcesPerNode of `trainer` decide its value",
    source="github.com/kubeflow/trainer v2.2.1, pkg/runtime/framework/plugins; github.com/NVIDIA/aicr/issues/2280",
    severity=Severity.MANDATORY,
    parameters=Parameters,
    examine=_examine,
    kinds=(TRAIN_JOB,),
    links=True,
)
