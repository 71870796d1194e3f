"""What jobs may do about the loss of a node, by their kind: defaults, refusals, spare nodes, and the times of Kueue."""

from typing import Any

import pytest

from components.jobs.resilience import Resilience
from components.operators.kueue_operator import PodsReady
from stacks.layers.queues import pods_ready
from stacks.loading.settings import parse
from stacks.resolved import jobs
from stacks.resolved.jobs import ProgramJob
from tests.support.stack_settings import data, example, expect_refusal

PROGRAM: dict[str, Any] = {
    "command": ["train.py", "{checkpoint}"],
    "kinds": ["mpi", "torch", "job"],
    "mounts": {"/data": ""},
    "checkpoint": "/data/c",
    "images": ["registry.example.com/team/train:1.2"],
}
TWO, ONE = {"layout": {"pods": 2, "gpus": 8}}, {"layout": {"pods": 1, "gpus": 8}}
MPI, TORCH, JOB = {"kind": "mpi", **TWO}, {"kind": "torch", **TWO}, {"kind": "job", "gpus": 8}


def _stack(workload: dict[str, Any], *, trainer: bool = False, **program: Any) -> dict[str, Any]:
    """Return the data of a stack with one job of a program of its own, with Kubeflow Trainer or without."""
    content = data("pytorch") if trainer else example("redpaper-today", workload | {"program": "train"})
    if trainer:
        tenant = content["tenants"][0]["namespace"]
        job = {"name": "it", "tenant": tenant, "program": "train", **workload}
        content["stages"] = [{"name": "only", "workloads": [job]}]
    return content | {"programs": {"train": PROGRAM | program}}


def _job(content: dict[str, Any]) -> ProgramJob:
    job = next(jobs.every(parse(content, "test")))
    assert isinstance(job, ProgramJob)
    return job


@pytest.mark.parametrize(
    ("workload", "trainer", "expected"),
    [
        (MPI, False, ("ranks", 3, True, 30)),
        (TORCH, False, ("ranks", 3, True, 30)),
        (TORCH | ONE, False, ("pods", 3, True, None)),
        (JOB, False, ("pods", 3, True, None)),
        (TORCH, True, ("all", 3, False, 30)),
        (TORCH | ONE, True, ("all", 3, False, None)),
    ],
)
def test_a_program_with_a_checkpoint_is_restarted_as_its_kind_can(
    workload: dict[str, Any], trainer: bool, expected: tuple[Any, ...]
) -> None:
    """Without any setting each kind does the most that it can; jobs of several pods miss a node for 30 s."""
    found = _job(_stack(workload, trainer=trainer)).resilience
    assert (found.restart, found.limit, found.count_disruptions, found.lost_after) == expected


def test_a_workload_chooses_field_by_field() -> None:
    """What the workload leaves out is the program's, and the component gets both."""
    content = _stack(JOB | {"resilience": {"limit": 1}}, resilience={"limit": 5, "lost_after": 60})
    assert _job(content).resilience == Resilience(restart="pods", limit=1, lost_after=60)


def test_without_a_checkpoint_nothing_is_restarted() -> None:
    """A training that begins anew each time is no restart that anyone has asked for."""
    assert _job(_stack(JOB, command=["train.py"], checkpoint=None)).resilience.limit == 0


@pytest.mark.parametrize(
    ("workload", "trainer", "expected"),
    [
        (MPI | {"resilience": {"restart": "all"}}, False, "job it-02x08: resilience.restart all: an MPIJob restarts "
         "ranks alone …; TrainJobs restart all (kind torch on a platform with `trainer`); use ranks, or leave it out"),
        (TORCH | {"resilience": {"restart": "pods"}}, False, "resilience.restart pods: the pods of a Job cannot go on "
         "…; TrainJobs restart all …; use ranks"),
        (TORCH | {"resilience": {"restart": "pods"}}, True, "the pods of a TrainJob cannot go on …; use all or ranks"),
        (TORCH | ONE | {"resilience": {"restart": "all"}}, False, "a Job of one pod …; use pods or ranks"),
        (JOB | {"resilience": {"restart": "ranks"}}, False, "pods of kind job are replaced one by one; …; use pods"),
        (MPI | {"resilience": {"count_disruptions": False}}, False, "resilience.count_disruptions false: a restart of "
         "ranks cannot see why they failed; leave it out"),
        (JOB | {"resilience": {"spare_nodes": 1}}, False, "resilience.spare_nodes 1: Kueue replaces nodes only with "
         "`queues.topology`; give it"),
        (JOB | {"resilience": {"lost_after": -1}}, False, "resilience.lost_after: … (value: -1)"),
    ],
)  # fmt: skip
def test_what_a_kind_cannot_do_is_refused_with_the_kind_that_can(
    workload: dict[str, Any], trainer: bool, expected: str
) -> None:
    """Each message has the field, its value and the remedy."""
    expect_refusal(_stack(workload, trainer=trainer), expected)


def test_a_verification_is_never_restarted_by_its_workload_either() -> None:
    """A retry hides what it found."""
    program: dict[str, Any] = {"command": ["check.py"], "checkpoint": None, "trains": False}
    expected = "resilience.limit 2: program train has trains: false, … leave it out"
    expect_refusal(_stack(JOB | {"resilience": {"limit": 2}}, **program), expected)


def test_old_releases_cannot_leave_disruptions_out() -> None:
    """OpenShift 4.4 has no podFailurePolicy."""
    workload = JOB | {"program": "train", "resilience": {"count_disruptions": False}}
    content = example("dev", workload) | {
        "programs": {"train": PROGRAM | {"images": ["nvcr.io/nvidia/pytorch:20.03-py3"]}}
    }
    expect_refusal(content, "resilience.count_disruptions false: OpenShift 4.4 has no podFailurePolicy …; leave it out")


def _with_topology(**own: Any) -> dict[str, Any]:
    """Return the data of a stack with topology-aware scheduling and a job of one node."""
    content = data("superpod-a100")
    tenant = content["tenants"][0]
    job = {"name": "it", "tenant": tenant["namespace"], "program": "train", **JOB, "resilience": own}
    program = PROGRAM | {"command": ["train.py"], "checkpoint": None, "mounts": {}}
    return content | {"stages": [{"name": "only", "workloads": [job]}], "programs": {"train": program}}


def test_spare_nodes_must_be_there_and_of_use() -> None:
    """As many nodes as the job and its spares take must have room; a job that replaces no pods has no use for them."""
    expect_refusal(
        _with_topology(spare_nodes=1), "resilience.spare_nodes 1: the job replaces no pods (restart pods, limit 0)"
    )
    nodes = len(parse(_with_topology(), "test").gpu_nodes)
    assert _job(_with_topology(spare_nodes=min(nodes - 1, 100), limit=1)).spare_nodes
    content = _with_topology(spare_nodes=100, limit=1)
    expect = f"layout 01x08 and they take 101 nodes, and pool … has {nodes} with 8 free GPUs; lower it"
    if nodes <= 100:
        expect_refusal(content, expect)


@pytest.mark.parametrize(
    ("channel", "own", "expected"),
    [
        ("stable-v1.4", None, None),
        ("stable-v1.5", None, PodsReady()),
        ("stable-v1.5", PodsReady(recovery=60), PodsReady(recovery=60)),
        ("stable-v1.10", None, PodsReady()),
    ],
)
def test_kueues_times_are_written_where_its_operator_has_them(
    channel: str, own: PodsReady | None, expected: PodsReady | None
) -> None:
    """From version 1.5 on they are explicit, so that nobody's default decides when a job gives its place back."""
    queues = parse(data("superpod-a100"), "test").queues
    assert queues
    operator = queues.operator.model_copy(update={"channel": channel})
    assert pods_ready(queues.model_copy(update={"operator": operator, "pods_ready": own})) == expected


def test_times_that_the_operator_does_not_pass_on_are_refused() -> None:
    """Versions up to 1.4 have five minutes, and no field for others."""
    content = data("superpod-a100")
    content["queues"] |= {"pods_ready": {"recovery": 600}}
    content["queues"]["operator"] |= {"channel": "stable-v1.3"}
    expect_refusal(content, "queues.pods_ready: version 1.3 of queues.operator.channel … passes no times …; use … 1.5")
