"""Which pod has which GPU, and which of them compute."""

from typing import Any

import pytest

from tests.support.actor_caches import MARKS, PLUGIN, RDMA, node, pod, runtime
from toolkit.simulator import names
from toolkit.simulator.actors import gpu_use, launcher, pod_devices
from toolkit.simulator.actors.job_inputs import machine, worker
from toolkit.simulator.actors.pod_devices import PodDevice

GPUS = {"nvidia.com/gpu": "2"}
TEST = ["mpirun", "-np", "2", "/opt/all_reduce_perf", "-b", "8"]
DECIDED = {names.EXIT_CODE: "0"}


@pytest.mark.parametrize(
    ("command", "computes"),
    [
        (["python", "/workspace/train.py", "--epochs", "3"], True),
        (["bash", "-c", "all_reduce_perf -b 8"], True),
        (["sleep", "infinity"], False),
        (["nvidia-smi"], False),
    ],
)
def test_programs_that_compute(command: list[str], *, computes: bool) -> None:
    """Training and collectives keep a GPU busy; a pod that sleeps, or looks at its GPUs, does not."""
    assert gpu_use.computes(pod("a", "a", command=command)) == computes


def test_an_image_that_computes_by_itself() -> None:
    """A pod without a command runs what its image starts."""
    assert gpu_use.computes(pod("a", "a", "cuda-vector-add"))
    assert not gpu_use.computes(pod("a", "a"))


def _job(*, launcher_runs: bool = True) -> Any:
    worker: dict[str, Any] = {"limits": GPUS | RDMA, "command": ["sleep", "infinity"]}
    workers = [
        pod(f"job-worker-{number}", "a", labels={**MARKS, launcher.ROLE: "worker"}, **worker) for number in range(2)
    ]
    leader = pod("job-launcher", "a", labels={**MARKS, launcher.ROLE: "launcher"}, annotations=DECIDED, command=TEST)
    there = [*workers, PLUGIN, *([leader] if launcher_runs else [])]
    return runtime(*there, nodes=(node("a"),), hostfile="job-worker-0 slots=1\njob-worker-1 slots=1\n")


def test_workers_compute_while_their_launcher_runs() -> None:
    """Workers have their GPUs all the time, and use them and their ports while the launcher runs."""
    for runs in (True, False):
        cluster = _job(launcher_runs=runs)
        here = machine(node("a"), cluster)
        holders = gpu_use.holders(here, cluster)
        assert {gpu: one["metadata"]["name"] for gpu, one in holders.items()} == {
            0: "job-worker-0",
            1: "job-worker-0",
            2: "job-worker-1",
            3: "job-worker-1",
        }
        assert {gpu_use.busy(one, cluster) for one in holders.values()} == {runs}
        assert gpu_use.sending(here, cluster) == (
            dict.fromkeys(("mlx5_0", "mlx5_1", "mlx5_2", "mlx5_3"), 2) if runs else {}
        )


def test_a_rank_that_waits_for_others_is_idle() -> None:
    """A pod whose end is not decided yet waits, and its GPUs with it; a job of one pod sends nothing."""
    for marks in ({}, DECIDED):
        spec: dict[str, Any] = {"limits": GPUS | RDMA, "command": ["python", "train.py"], "annotations": marks}
        alone = pod("rank", "a", **spec)
        cluster = runtime(alone, PLUGIN, nodes=(node("a"),))
        assert gpu_use.busy(alone, cluster) == bool(marks)
        assert gpu_use.sending(machine(node("a"), cluster), cluster) == {}


def test_gpus_of_claims_are_held_by_their_pods() -> None:
    """The record of a pod's devices says which GPUs it has; who sees them as an administrator holds none."""

    def claiming(name: str, *numbers: int, admin: bool = False) -> dict[str, Any]:
        devices = [PodDevice("c", name, "gpus", "gpu.nvidia.com", "a", f"gpu-{gpu}", admin=admin) for gpu in numbers]
        return pod(name, "a", annotations={names.DEVICES: pod_devices.written(devices)})

    rank, exporter = claiming("rank", 1, 5), claiming("exporter", *range(8), admin=True)
    cluster = runtime(rank, exporter, nodes=(node("a"),))
    here = machine(node("a"), cluster)
    assert {gpu: held["metadata"]["name"] for gpu, held in gpu_use.holders(here, cluster).items()} == {
        1: "rank",
        5: "rank",
    }
    assert worker(exporter, here, cluster).gpus == tuple(range(8))


def test_an_instance_of_a_claim_is_one_device() -> None:
    """Of an instance of MIG CUDA sees one device, whatever its number is."""
    device = PodDevice("c", "u", "gpus", "gpu.nvidia.com", "a", "gpu-3-mig-1g18gb-19-2")
    rank = pod("rank", "a", annotations={names.DEVICES: pod_devices.written([device])})
    cluster = runtime(rank, nodes=(node("a"),))
    assert worker(rank, machine(node("a"), cluster), cluster).gpus == (0,)
