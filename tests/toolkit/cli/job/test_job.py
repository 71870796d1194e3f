"""`./hpc job`: what a tenant's user starts."""

from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml

from core.apis import names
from stacks.loading.settings import load, parse
from tests.support.commands import finished, run
from tests.support.stack_settings import changed
from toolkit.cli.job import command as module
from toolkit.cli.job.command import manifests_of
from toolkit.cli.job.request import Request, requested
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.paths import ROOT
from toolkit.render.manifests import manifests, registrations

_run = partial(finished, module.command)
STACK = "pytorch"


def _written(*arguments: str, stack: str = STACK) -> list[dict[str, Any]]:
    status, output = _run(*arguments, "--stack", stack, "-o", "-")
    assert status == 0, output
    return list(yaml.safe_load_all(output[output.index("---") :]))


def _refused(*arguments: str, stack: str = STACK) -> str:
    done = run(module.command, *arguments, "--stack", stack, "-o", "-")
    assert isinstance(done.exception, Problem)
    assert not done.stdout
    return str(done.exception)


def test_the_job_is_the_stacks_own_but_for_its_name() -> None:
    """The components render it: a job of the stack and a user's of the same program have the same `spec`."""
    declared = {
        (each["kind"], each["metadata"]["name"]): each for each in manifests(registrations(STACK)) if "spec" in each
    }
    for program, kind in (("train-torch", "TrainJob"), ("train-horovod", "MPIJob")):
        *_, job = _written(program, "--tenant", "training", "--layout", "2x8", "--name", "mine")
        assert (job["kind"], job["metadata"]["name"]) == (kind, "mine-02x08")
        theirs = yaml.safe_dump(declared[kind, f"{program}-02x08"]["spec"])
        assert yaml.safe_dump(job["spec"]).replace("mine-02x08", f"{program}-02x08") == theirs


def test_a_job_of_several_objects_ends_with_the_job() -> None:
    """A Service is there before the pods that look for each other by it."""
    settings = parse(changed(STACK, trainer=None), "test")
    found, _ = requested(Request("train-torch", "training", gpus=16, name="mine"), settings)
    assert [each["kind"] for each in manifests_of(found, STACK)] == ["Service", "Job"]


def test_the_runtime_of_a_job_that_is_restarted_comes_before_it() -> None:
    """The Trainer refuses a TrainJob whose runtime is missing."""
    written = _written("train-torch", "--tenant", "training", "--layout", "2x8", "--name", "mine")
    assert [(each["kind"], each["metadata"]["name"]) for each in written] == [
        ("TrainingRuntime", "mine-02x08"),
        ("TrainJob", "mine-02x08"),
    ]


def test_no_engine_manages_it() -> None:
    """Neither an annotation for the provider nor a label of its manager; `./hpc status` finds it by the other label."""
    for each in _written("train-torch", "--tenant", "training", "--gpus", "16", "--name", "mine"):
        assert "pulumi" not in yaml.safe_dump(each["metadata"])
        assert each["metadata"]["labels"]["app.kubernetes.io/part-of"] == "hpc"


def test_the_queue_of_the_stack() -> None:
    """Kueue admits it as it admits the stack's jobs."""
    options = ["--tenant", "adas", "--gpus", "8", "--name", "mine", "--build", "tensorflow"]
    (job,) = _written("nccl-all-reduce", *options, stack="prod")
    assert job["metadata"]["labels"][names.QUEUE_NAME] == load("prod", ROOT).queues.queue  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("options", "layout"),
    [
        (["--gpus", "16"], (2, 8)),
        (["--gpus", "4", "--nodes", "2"], (2, 2)),
        (["--nodes", "2"], (2, 8)),
        (["--layout", "4x4"], (4, 4)),
        (["--layout", "02x08", "--gpus", "16", "--nodes", "2"], (2, 8)),
    ],
)
def test_layouts(options: list[str], layout: tuple[int, int]) -> None:
    """GPUs alone take the fewest pods that fit."""
    *_, job = _written("train-torch", "--tenant", "training", "--name", "mine", *options)
    pods = job["spec"]["trainer"]
    assert (pods["numNodes"], int(pods["resourcesPerNode"]["limits"][names.GPU_RESOURCE])) == layout


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["train-torhc", "-t", "training", "-g", "8"], "program 'train-torhc' is not defined; define it in"),
        (["train-torhc", "-t", "training", "-g", "8"], "did you mean train-torch?"),
        (["train-torch", "-t", "vision", "-g", "8"], "--tenant vision: the stack has no such tenant\nKnown: training."),
        (
            ["train-torch", "-t", "training"],
            "--gpus is missing\nGive the GPUs of the whole job, --nodes N, or --layout PODSxGPUS.",
        ),
        (["train-torch", "-t", "training", "-g", "15", "--nodes", "2"], "--nodes 2: 15 GPUs cannot be the same number"),
        (["train-torch", "-t", "training", "-g", "15", "--nodes", "2"], "Give --gpus 16, or --layout PODSxGPUS."),
        (["train-torch", "-t", "training", "-g", "17"], "17 GPUs wanted, 16 free; wait, or ask for fewer"),
        (["train-torch", "-t", "training", "--layout", "3x8"], "layout 03x08 does not fit on 2 nodes with 8 free GPUs"),
        (["train-torch", "-t", "training", "--layout", "8"], "--layout 8 is not PODSxGPUS\nWrite pods and the GPUs"),
        (
            ["train-torch", "-t", "training", "--layout", "0x8"],
            "--layout: pods is not above 0 (value: 0); raise it",
        ),
        (["train-torch", "-t", "training", "--layout", "2x8", "-g", "8"], "--gpus 8: --layout 2x8 has 16 of them"),
        (["train-torch", "-t", "training", "--layout", "2x8"], "job training/train-torch-02x08 is the stack's own"),
        (
            ["train-torch", "-t", "training", "-g", "8", "--kind", "mpi"],
            "--kind mpi: program train-torch is not started",
        ),
        (["train-torch", "-t", "training", "-g", "8", "--name", "A_b"], "--name: is not a name of lower-case letters"),
        (
            ["cuda-vector-add", "-t", "training", "-g", "8", "--nodes", "2"],
            "--nodes 2: program cuda-vector-add runs in",
        ),
        (["shared-data", "-t", "training", "-g", "16"], "image is missing, and the program has none that fits"),
    ],
)
def test_what_is_wrong_is_named(arguments: list[str], expected: str) -> None:
    """Option, value and remedy, and nothing on standard output."""
    assert expected in _refused(*arguments)


def test_a_mandatory_finding_refuses_the_job() -> None:
    """An image whose tag moves never reaches the cluster."""
    message = _refused("train-torch", "-t", "training", "-g", "8", "--name", "mine", "--image", "quay.io/x/y:latest")
    assert message.startswith("the policies refuse the job, and nothing was written:\n")
    assert "image-pinned" in message
    assert "quay.io/x/y:latest has the tag latest, which moves" in " ".join(message.split())


def test_a_file_gets_the_manifest(tmp_path: Path) -> None:
    """The command that starts it is printed, and a file that cannot be written is named."""
    arguments = ["cuda-vector-add", "-t", "training", "--stack", STACK]
    status, output = _run(*arguments, "-o", str(tmp_path / "job.yaml"))
    assert (status, f"oc create -f {tmp_path / 'job.yaml'}" in output) == (0, True)
    assert [each["kind"] for each in yaml.safe_load_all((tmp_path / "job.yaml").read_text())] == ["Job"]
    done = run(module.command, *arguments, "-o", str(tmp_path / "job.yaml" / "job.yaml"))
    assert f"{tmp_path / 'job.yaml' / 'job.yaml'} cannot be written: " in str(done.exception)


def test_stacks_jobs_are_not_rendered_with_it() -> None:
    """The settings that come back have the request alone."""
    settings, job = requested(Request("cuda-vector-add", "training", gpus=1), load(STACK, ROOT))
    assert [each for stage in settings.stages for each in stage.workloads] == [job.workload]
    assert [each["metadata"]["name"] for each in manifests_of(settings, STACK)] == ["cuda-vector-add"]
