"""What bench/gpus.py takes of a pod, and what its half on the host makes of it."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from bench import gpu_host, gpus

ROOT = Path(__file__).resolve().parents[2]


def _torch() -> bool:
    if shutil.which("nvidia-smi") is None:
        return False
    return (
        subprocess.run(["python3", "-c", "import torch; assert torch.cuda.is_available()"], check=False).returncode == 0
    )


def test_a_job_is_what_its_pod_starts() -> None:
    """Command, ranks, NCCL's variables and shared memory are those of the object that the stack declares."""
    jobs = {job["name"]: job for job in gpus.jobs(gpus.own_settings("dgx-h100", 2))}
    assert set(jobs) == {"preflight", "torch-collectives-01x02", "torch-resnet50-01x02", "torch-transformer-01x02"}
    job = jobs["torch-collectives-01x02"]
    assert job["command"][:4] == ["torchrun", "--no-python", "python3", "-c"]
    assert job["command"][4] == (ROOT / "stacks/scripts/collectives.py").read_text()
    assert job["environment"]["NCCL_DEBUG"] == "INFO"
    assert (job["environment"]["PET_NPROC_PER_NODE"], job["gpus"], job["shm_mib"]) == ("2", 2, 8192)


def test_what_the_host_does_not_have_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    """The address of a Service, an interface and CPUs of another machine are replaced, and named."""
    monkeypatch.setenv("NCCL_NVLS_ENABLE", "0")
    monkeypatch.setenv("NCCL_ALGO", "Tree")
    own = {"PET_MASTER_ADDR": "a-0.a", "NCCL_SOCKET_IFNAME": "no-such0"}
    job = {"environment": own, "gpus": 2, "cpus": 1, "cpu_sets": [[9999]]}
    variables, said = gpu_host.environment(job, 1, {})
    assert (variables["PET_MASTER_ADDR"], variables["PET_NODE_RANK"]) == ("127.0.0.1", "1")
    assert variables["CUDA_VISIBLE_DEVICES"] == "2,3"
    assert not {"NCCL_ALGO", "NCCL_SOCKET_IFNAME"} & variables.keys()
    assert said == [
        "NCCL_NVLS_ENABLE=0 is the host's",
        "PET_MASTER_ADDR: 127.0.0.1, not a-0.a, which is a Service's",
        "NCCL_SOCKET_IFNAME=no-such0: the host has no such interface",
    ]
    chosen, which = gpu_host.cpus(job, 0)
    assert len(chosen) == 1
    assert which == "1 CPUs: the host has not those of the profile's NUMA nodes"


def test_a_binary_is_asked_for() -> None:
    """A program on the tenant's volume is not guessed."""
    job = {"name": "test", "kind": "Job", "command": ["/workspace/other/nccl/all_reduce_perf", "-g", "2"]}
    with pytest.raises(SystemExit, match="--binary nccl-tests=FOLDER"):
        gpu_host.command(job, {})
    words, said = gpu_host.command(job, {"nccl-tests": "/opt/build"})
    assert words == ["/opt/build/all_reduce_perf", "-g", "2"]
    assert said == ["/workspace/other/nccl/all_reduce_perf is /opt/build/all_reduce_perf"]


@pytest.mark.gpu
@pytest.mark.skipif(not _torch(), reason="no NVIDIA GPU with PyTorch on this machine")
def test_the_test_of_a_node_runs_on_a_gpu(tmp_path: Path) -> None:
    """The program preflight ends on a host with a GPU, and its log is whole."""
    plan = tmp_path / "PLAN.json"
    plan.write_text(
        json.dumps({"jobs": [job for job in gpus.jobs(gpus.own_settings("dgx-h100", 1)) if job["name"] == "preflight"]})
    )
    done = subprocess.run(
        [sys.executable, ROOT / "bench/gpu_host.py", plan, "-o", tmp_path], check=False, capture_output=True
    )
    assert done.returncode == 0
    assert "preflight ends" in (tmp_path / "preflight.log").read_text()
