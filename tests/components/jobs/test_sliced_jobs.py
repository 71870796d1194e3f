"""Jobs over the slices of a data set: what stages it, and map-reduce."""

import shlex
from typing import Any

import pytest
from pydantic import ValidationError

from components.jobs import sliced_jobs
from components.jobs.gpu_job import spec as gpu_job_spec
from components.jobs.mpi_job import mpirun
from components.jobs.sliced_jobs import IndexedJob, StagedData, StagedDataArgs, job_name, reducer, slices
from components.jobs.torch_job import command
from core.apis import data_sets
from tests.components.kit import LOCKED, gpu_job, indexed_job, mpi_job, sliced_job, torch_job
from tests.support.declared import declared, faults


def staged(**changes: Any) -> StagedDataArgs:
    """Return the arguments of a staging in four slices, changed."""
    return StagedDataArgs.model_validate(sliced_job(**changes))


def jobs(found: Any) -> dict[str, Any]:
    """Return the Jobs that a component declares, by name."""
    return {each["metadata"]["name"]: each["spec"] for each in found if each["kind"] == "Job"}


def test_a_job_is_named_after_the_lock() -> None:
    """Another lock is another job, and the same lock the same."""
    assert job_name("night", "ab" * 32) == "stage-night-ababababab" != job_name("night", "ac" * 32)


@pytest.mark.parametrize("indexed", [True, False])
def test_our_own_rules_have_nothing_against_them(*, indexed: bool) -> None:
    """The policies have no finding, in either form."""
    assert faults(declared(lambda: StagedData("job", staged(indexed=indexed), lambda *_: ""))) == []
    assert faults(declared(lambda: IndexedJob("job", indexed_job(indexed=indexed), lambda *_: ""))) == []


def test_without_indexed_jobs_there_is_one_for_each_slice() -> None:
    """Of four slices there are four Jobs, each with its number in the variable that an Indexed Job's pods have."""
    one = sliced_jobs.of_slices(staged(), {"env": []})
    assert [(name, spec["completions"]) for name, spec in one.items()] == [("stage-night-abababab", 4)]
    many = sliced_jobs.of_slices(staged(indexed=False), {"env": []})
    assert [*many] == [f"stage-night-abababab-{index}" for index in range(4)]
    for index, spec in enumerate(many.values()):
        (container,) = spec["template"]["spec"]["containers"]
        assert container["env"] == [{"name": data_sets.INDEX, "value": str(index)}]
        assert "completions" not in spec


def test_a_staging_reads_and_takes_no_gpu() -> None:
    """Its pods mount the set read-only, and have the reader's command line alone."""
    found = declared(lambda: StagedData("job", staged(), lambda *_: ""))
    pod = jobs(found)["stage-night-abababab"]["template"]["spec"]
    (container,) = pod["containers"]
    assert container["command"][3:] == [*LOCKED.command("stage")[3:], "--slices", "4"]
    assert container["volumeMounts"][0] == {"name": "sets", "mountPath": "/sets", "readOnly": True}
    assert [*container["resources"]["limits"]] == ["cpu", "memory"]


def test_the_reducer_comes_after_all_slices() -> None:
    """The slices prove themselves and then run the program; the reducer proves all of them, and then collects."""
    args = indexed_job()
    mapped, reduced = slices(args)["command"][2], reducer(args)["command"][2]
    assert shlex.split(mapped)[3] == "slice"
    assert mapped.endswith("exec infer.py")
    assert shlex.split(reduced)[3] == "reduce"
    assert reduced.endswith("exec collect.py")
    found = jobs(declared(lambda: IndexedJob("job", args, lambda *_: "")))
    assert {*found} == {"infer", "infer-reduce"}
    containers = [found[name]["template"]["spec"]["containers"][0] for name in ("infer", "infer-reduce")]
    assert ["nvidia.com/gpu" in each["resources"]["limits"] for each in containers] == [True, False]


def test_every_pod_proves_its_data_before_its_program() -> None:
    """Of a batch job, of torchrun and of mpirun, there of one rank of each pod."""
    proof = shlex.join(LOCKED.command("check"))
    (container,) = gpu_job_spec(gpu_job(data_set=LOCKED))["template"]["spec"]["containers"]
    assert container["command"] == ["/bin/sh", "-ec", f"{proof};exec ./run_and_time.sh"]
    assert command(torch_job(data_set=LOCKED)) == ["/bin/sh", "-ec", f"{proof};exec torchrun train.py --epochs=1"]
    script = mpirun(mpi_job(data_set=LOCKED))[-1]
    assert script.startswith(f'[ "${{OMPI_COMM_WORLD_LOCAL_RANK:-0}}" != 0 ]||{proof};exec ')


def test_a_program_of_the_image_cannot_be_preceded() -> None:
    """Without a command the proof would replace the program."""
    with pytest.raises(ValidationError, match=r"data_set night: .* give the program a command"):
        gpu_job(data_set=LOCKED, command=())


@pytest.mark.parametrize(("name", "indexed"), [("a" * 60, False), ("a" * 57, True)])
def test_names_that_do_not_fit(name: str, *, indexed: bool) -> None:
    """A Job's name is a label of its pods, with the slice's number or the reducer's ending."""
    with pytest.raises(ValidationError, match="shorten"):
        indexed_job(job_name=name, indexed=indexed, slices=200)
