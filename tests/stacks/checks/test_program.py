"""Programs of a stack's own, and names of programs that nothing defines: each message with its remedy."""

from typing import Any

import pytest

from components.jobs.job_volumes import MountOptions
from components.jobs.layout import Layout
from components.jobs.mpi_job import MpiJobArgs
from components.jobs.torch_job import TorchJobArgs
from stacks.loading.settings import parse
from stacks.resolved import jobs
from tests.support.stack_settings import MPI, SMOKE, example, expect_refusal, first_args

OWN: dict[str, Any] = {
    "command": ["python", "train.py", "--gpus={gpus}"],
    "kinds": ["mpi"],
    "mounts": {"/data": "sets"},
    "images": ["registry.example.com/team/train:1.2"],
    "environment": {"STEPS": "100"},
}
RESUMED: dict[str, Any] = {"command": ["train.py", "{checkpoint}"], "checkpoint": "/data/c"}


def stack(program: dict[str, Any], workload: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return the data of a stack with a program of its own, `train`, and a job that starts it."""
    started = MPI | {"program": "train"} if workload is None else workload
    return example("redpaper-today", started) | {"programs": {"train": program}}


def test_a_stacks_own_program_is_started_as_those_of_the_files() -> None:
    """Command, image, mounts and environment are the program's; an update waits until a training has started."""
    settings = parse(stack(OWN), "test")
    found = first_args(settings)
    assert isinstance(found, MpiJobArgs)
    assert found.command == ("python", "train.py", "--gpus=8")
    assert found.image == "registry.example.com/team/train:1.2"
    assert found.mounts == {"/data": MountOptions(folder="sets")}
    assert found.environment["STEPS"] == "100"
    assert (found.wait, found.on_change, found.wait) == ("started", "keep", next(jobs.every(settings)).wait)
    assert settings.program("train").processes(Layout(pods=2, gpus=8)) == 8


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ({"command": "python train.py"}, "programs.train.command: …; write a list"),
        ({"kinds": ["slurm"]}, "programs.train.kinds[0]: … (value: 'slurm'); write one of these"),
        ({"kinds": ["torch"], "command": ["torchrun", "a.py"]}, "command starts torchrun …; leave the word out"),
        ({"kinds": []}, "programs.train.kinds: …; add what is missing"),
        ({"command": []}, "programs.train: command is empty, and mpirun …; write it, or leave mpi out of kinds"),
        ({"command": ["{program}"]}, "programs.train: command has {program} …; set on_volume, or in_image"),
        ({"command": ["x", "{largest}"]}, "programs.train: largest_mib None, … command has {largest}; give both"),
        ({"largest_mib": 8}, "programs.train: largest_mib 8, … command has no {largest}; give both, or neither"),
        ({"mounts": {"/data": "", "/data/sets": ""}}, "mounts: /data/sets is inside /data …; mount one … elsewhere"),
        ({"mounts": {"/data": "../sets"}}, "mounts./data.folder: leaves the volume …; write a path from its root"),
        ({"mounts": {"/data": "/sets"}}, "mounts./data.folder: leaves the volume …; write a path from its root"),
        ({"mounts": {"/dev": ""}}, "mounts: /dev/shm is inside /dev, which hides it; mount one of them elsewhere"),
        ({"mounts": {"/data": {"volume": "A"}}}, "mounts./data.volume: … is not a name … (value: 'A'); write e.g."),
        ({"mounts": {"/data": {"volumes": "a"}}}, "mounts./data.volumes: …; did you mean volume?"),
        (
            {"metrics": [{"name": "x", "pattern": "loss"}]},
            "programs.train.metrics[0].pattern: has 0 groups; put parentheses around the number … (value: 'loss')",
        ),
        ({"environment": {"A B": "1"}}, "programs.train.environment.A B"),
        ({"checkpoint": "/data/c"}, "checkpoint /data/c, … has no {checkpoint}; give both, or neither"),
        ({"command": ["a", "{checkpoint}"]}, "checkpoint None, … has {checkpoint}; give both, or neither"),
        (RESUMED | {"checkpoint": "/out"}, "checkpoint /out is in none of mounts: /data; mount a volume there"),
        (
            RESUMED | {"mounts": {"/data": {"read_only": True}}},
            "checkpoint /data/c: mounts./data is read_only; use another, or unset that",
        ),
        (
            {"resilience": {"limit": 2}, "trains": False},
            "resilience.limit 2, and trains is false: …; leave it out",
        ),
        ({"resilience": {"limit": -1}}, "programs.train.resilience.limit: … (value: -1)"),
        ({"restarts": 2}, "programs.train.restarts: … called resilience.limit"),
        ({"ports": {"metrics": 80}}, "programs.train.ports.metrics: … (value: 80)"),
        ({"ports": {"a": 9100, "b": 9100}}, "job it-02x08: ports: b 9100: a has port 9100; give it another name"),
        ({"ports": {"metrics": 2222}}, "ports: metrics 2222: ssh has port 2222; give it another name and number"),
        ({"resources": {"memory": 1}}, "programs.train.resources.memory: …; did you mean memory_gib?"),
        (
            {"resources": {"cpus": 999}},
            "resources.cpus 999, more than … CPUs of dgx1-v100-16gb; lower it",
        ),
        ({"resources": {"memory_gib": 9999}}, "resources.memory_gib 9999, more than … GiB of dgx1-v100-16gb; lower it"),
        ({"resources": {"further": {"nvidia.com/gpu": "1"}}}, "resources.further: nvidia.com/gpu goes with the layout"),
    ],
)
def test_programs_that_cannot_be_started_are_refused(program: dict[str, Any], expected: str) -> None:
    """What is wrong with a program is reported by its field, whatever starts it."""
    expect_refusal(stack(OWN | program), expected)


@pytest.mark.parametrize(
    ("workload", "expected"),
    [
        ({"program": "trian"}, "job it: program 'trian' …; define it in `programs` …: did you mean train?"),
        ({"program": "minesweeper"}, "job it: program 'minesweeper' …: known: a2d2, "),
    ],
)
def test_a_program_that_nothing_defines_is_refused(workload: dict[str, Any], expected: str) -> None:
    """Names that are nearly right are corrected, for others all are listed."""
    expect_refusal(stack(OWN, MPI | workload), expected)


def test_a_program_of_the_files_keeps_its_name() -> None:
    """A stack cannot define a program that a file has: readers of its jobs would take it for that one."""
    data = example("dev", SMOKE) | {"programs": {"cuda-vector-add": OWN}}
    expect_refusal(data, "programs: cuda-vector-add is a program of stacks/programs, too; give this one another name")


TORCH: dict[str, Any] = {"kind": "torch", "program": "train", "layout": {"pods": 2, "gpus": 8}}


def test_torchrun_has_a_process_for_each_gpu() -> None:
    """A job of kind torch has the layout's pods, its devices, and the fabric's variables."""
    settings = parse(stack(OWN | {"kinds": ["torch"]}, TORCH), "test")
    found = first_args(settings)
    assert isinstance(found, TorchJobArgs)
    assert isinstance(found, TorchJobArgs)
    assert (found.job_name, found.processes_per_pod, found.transport) == ("it-02x08", 8, "gpudirect")
    assert found.rdma_resources
    assert found.ib_hca


def test_releases_without_indexed_jobs_are_refused() -> None:
    """Kubernetes before 1.24 does not number the pods of a Job."""
    data = example("dev", TORCH) | {"programs": {"train": OWN | {"kinds": ["torch"]}}}
    expect_refusal(data, "OpenShift 4.4 has no Indexed Jobs …; use kind job, or another release")


@pytest.mark.parametrize("kind", ["mpi", "torch"])
def test_a_training_that_is_started_again_finds_its_checkpoints(kind: str) -> None:
    """Each job has a folder of its own, by command and environment, and as many restarts as the program."""
    program = RESUMED | {"kinds": [kind], "resilience": {"limit": 3}, "environment": {"CKPT": "{checkpoint}/last"}}
    settings = parse(stack(OWN | program, TORCH | {"kind": kind}), "test")
    found = first_args(settings)
    assert isinstance(found, MpiJobArgs | TorchJobArgs)
    assert found.command == ("train.py", "/data/c/it-02x08")
    assert found.environment["CKPT"] == "/data/c/it-02x08/last"
    assert (found.resilience.restart, found.resilience.limit, found.resilience.lost_after) == ("ranks", 3, 30)


def test_a_pod_has_the_programs_resources_in_place_of_its_share() -> None:
    """CPUs and memory that a program names take the place of the machine's part, and others come beside them."""
    own = {"cpus": 20, "memory_gib": 300, "further": {"ephemeral-storage": "200Gi"}}
    settings = parse(stack(OWN | {"resources": own, "ports": {"metrics": 9100}}), "test")
    found = first_args(settings)
    assert isinstance(found, MpiJobArgs)
    assert (found.cpus, found.memory, found.further) == (20, "300Gi", {"ephemeral-storage": "200Gi"})
    assert found.ports == {"metrics": 9100}


def test_a_resource_without_a_quota_is_refused() -> None:
    """Kueue never admits a job with a resource that its queue does not cover."""
    own = {"resources": {"further": {"ephemeral-storage": "200Gi"}}}
    data = example("prod", MPI | {"program": "train"}) | {"programs": {"train": OWN | own}}
    expect_refusal(data, "program train has resources.further ephemeral-storage, which no quota …; leave it out")


def test_pods_whose_memory_does_not_fit_on_the_nodes_are_refused() -> None:
    """GPUs alone do not decide where pods fit."""
    workload = MPI | {"program": "train", "layout": {"pods": 8, "gpus": 1}}
    content = stack(OWN | {"resources": {"memory_gib": 200}}, workload)
    expect_refusal(content, "layout 08x01 with resources of program train, … 200 GiB a pod, …; lower pods")
