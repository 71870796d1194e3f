"""Jobs of locked data sets: what a lock makes of their objects, and what verification asks of them."""

import re
from pathlib import Path
from typing import Any

from stacks import environment
from stacks.loading.settings import Settings, parse
from tests.support.data_sets import BIKES, INFER, ROWS, SPLIT, STAGE, TRAIN, locked, staged, write_lock
from tests.support.declared import declared, faults
from tests.support.recorded import component
from tests.support.stack_settings import data
from toolkit.cli.verify.expectations import requests


def settings(*jobs: dict[str, Any], release: str | None = None) -> Settings:
    """Return the settings of a staging and jobs after it."""
    content = staged(*jobs, data_set=SPLIT)
    found = parse(content, "test")
    return found if release is None else found.model_copy(update={"release": release})


def jobs(wanted: Settings, root: Path) -> dict[str, dict[str, Any]]:
    """Return the Jobs that a program declares, by name."""
    accounts = environment.placeholder_accounts(wanted, "nobody")
    found = component(lambda: environment.build(wanted, accounts, root))
    return {each.inputs["metadata"]["name"]: dict(each.inputs) for each in found if each.type.endswith(":Job")}


def command(job: dict[str, Any]) -> str:
    """Return the command line of a Job's container."""
    return " ".join(job["spec"]["template"]["spec"]["containers"][0]["command"])


def test_another_lock_is_another_staging(tmp_path: Path) -> None:
    """The name of the staging's Job ends with the lock's digest; the jobs that read the set have it in full."""
    wanted = settings(TRAIN)
    write_lock(tmp_path)
    first = jobs(wanted, tmp_path)
    assert {*first} == {f"stage-bikes-{locked().digest[:10]}", "train-02x08"}
    assert all(f"--digest {locked().digest}" in command(job) for job in first.values())
    write_lock(tmp_path, ROWS[1:])
    assert f"stage-bikes-{locked(ROWS[1:]).digest[:10]}" in jobs(wanted, tmp_path)


def test_a_job_reads_its_set_and_writes_none_of_it(tmp_path: Path) -> None:
    """The volume is mounted read-only at a folder of the set, and variables say where the list of its part is."""
    write_lock(tmp_path)
    job = jobs(settings(TRAIN | {"split": "train"}), tmp_path)["train-02x08"]
    (container,) = job["spec"]["template"]["spec"]["containers"]
    digest = locked().splits["train"].digest
    assert {"name": "sets", "mountPath": "/data-sets/bikes", "readOnly": True} in container["volumeMounts"]
    assert {"name": "HPC_DATA_LIST", "value": f"/data-sets/bikes/.hpc/lists/{digest}.list"} in container["env"]
    assert re.search(rf"check .*--digest {digest} .*exec torchrun", command(job), re.DOTALL)


def test_verification_asks_for_what_is_locked() -> None:
    """Of the staging all slices, of a training its part, of an inference its slices and their reducer."""
    locks = {("training", "bikes"): locked()}
    found = {one.job.partition("/")[2]: one for one in requests(settings(TRAIN | {"split": "train"}, INFER), locks)}
    stage, train, infer, reduce = found.values()
    assert [*found] == [f"stage-bikes-{locked().digest[:10]}", "train-02x08", "infer", "infer-reduce"]
    assert [one.data.role for one in found.values() if one.data] == ["stages", "reads", "slices", "reduces"]
    assert all("hpc-data" in one.prints for one in found.values())
    assert stage.data is not None
    assert train.data is not None
    assert (stage.data.digest, stage.data.slices, stage.data.slice) == (locked().digest, 4, None)
    assert (train.data.digest, train.data.files) == (locked().splits["train"].digest, locked().splits["train"].files)
    assert (str(infer.shape), reduce.shape) == ("04x01", None)


def test_without_indexed_jobs_each_slice_is_a_job() -> None:
    """On OpenShift 4.4 verification asks each Job of a staging for its own slice."""
    locks = {("training", "bikes"): locked()}
    found = [one for one in requests(settings(TRAIN, release="4.4"), locks) if one.data and one.data.slices]
    assert [one.job[-2:] for one in found] == ["-0", "-1", "-2", "-3"]
    assert [one.data.slice for one in found if one.data] == [0, 1, 2, 3]


def test_a_staging_on_openshift_4_4(tmp_path: Path) -> None:
    """There each slice is a Job with its number as a variable, and the policies have nothing against it."""
    content = data("dev")
    tenant = content["tenants"][0]
    volume = next(iter(parse(content, "test").tenants[0].all_volumes))
    tenant["data_sets"] = [BIKES | SPLIT | {"volume": volume}]
    stage = STAGE | {"tenant": tenant["namespace"], "slices": 2}
    content["stages"] = [{"name": "data", "workloads": [stage]}]
    write_lock(tmp_path)
    wanted = parse(content, "test")
    accounts = environment.placeholder_accounts(wanted, "nobody")
    found = declared(lambda: environment.build(wanted, accounts, tmp_path))
    made = {each["metadata"]["name"]: each for each in found if each["kind"] == "Job"}
    assert [*sorted(made)] == [f"stage-bikes-{locked().digest[:10]}-{number}" for number in range(2)]
    variables = [job["spec"]["template"]["spec"]["containers"][0]["env"][-1] for _, job in sorted(made.items())]
    assert variables == [{"name": "JOB_COMPLETION_INDEX", "value": str(number)} for number in range(2)]
    assert faults(found) == []
