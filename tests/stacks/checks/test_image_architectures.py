"""Images and the processors of machines: a pool with arm64 beside one with amd64."""

from pathlib import Path
from typing import Any

import pytest

from stacks.loading.settings import SettingsError, parse
from stacks.resolved import jobs
from tests.support.recorded import ROOT
from tests.support.stack_settings import changed, expect_message

ARM = "base: dgx-h100\ncpu_architecture: aarch64\nsource: ours\n"
"""A machine with GPUs of Hopper and processors of arm64, as GH200 has them."""
TRAIN = "quay.io/example/train:1.2"
JOB = {"kind": "job", "tenant": "research", "name": "it", "program": "cuda-vector-add", "pool": "former"}
TORCH = {"kind": "torch", "tenant": "research", "name": "it", "program": "train", "layout": "1x8", "pool": "former"}
BUILD = {
    "tenant": "research",
    "name": "train",
    "tag": "1",
    "base": "nvcr.io/nvidia/pytorch:26.01-py3",
    "source": {"kind": "pytorch", "pytorch": "v2.9.0"},
}


def settings(folder: Path, workload: dict[str, Any], **fields: Any) -> dict[str, Any]:
    """Return the mixed stack with a pool of arm64, and one job on it."""
    (folder / "arm.yaml").write_text(ARM)
    content = changed(
        "mixed",
        pools__former={"machine": "arm", "machine_config_pool": "worker", "tuning": None},
        stages=[{"name": "all", "workloads": [workload]}],
        tenants__0__gpu_quota={"training": 16, "former": 16},
        tenants__2__gpu_quota={"inference": 0},
        tenants__1__gpu_quota={"inference": 8},
    )
    content["machines"] = [*(str(ROOT / path) for path in content["machines"]), "arm.yaml"]
    return content | fields


@pytest.mark.parametrize(
    ("workload", "fields", "expected"),
    [
        (
            TORCH,
            {"image_architectures": {TRAIN: ["amd64"]}},
            f"job it-01x08: image is missing, …({TRAIN} is for amd64 alone, and the processors of arm are arm64); name",
        ),
        (
            JOB | {"image": TRAIN},
            {"image_architectures": {TRAIN: ["amd64"]}},
            f"job it: image {TRAIN} is for amd64 alone, and the processors of arm are arm64; name another",
        ),
        (
            JOB | {"build": "train"},
            {"builds": [BUILD]},
            "job it: build train runs on any worker, and those of pools are amd64 and arm64: …; name an image for arm",
        ),
        (
            JOB | {"image": TRAIN},
            {"image_architectures": {TRAIN: ["x86_64"]}},
            f"image_architectures.{TRAIN}[0]: … 'x86_64'",
        ),
    ],
)
def test_an_image_for_other_processors_is_refused(
    workload: dict[str, Any], fields: dict[str, Any], expected: str, tmp_path: Path
) -> None:
    """A job's image must be for the processors of its pool, as far as they are declared."""
    with pytest.raises(SettingsError) as caught:
        parse(settings(tmp_path, workload, **fields), "test", root=tmp_path)
    expect_message(str(caught.value), expected)


@pytest.mark.parametrize(
    ("declared", "pool"), [({}, "former"), ({TRAIN: ["amd64", "arm64"]}, "former"), ({TRAIN: ["amd64"]}, "training")]
)
def test_an_image_that_fits_or_is_not_declared_is_accepted(
    declared: dict[str, list[str]], pool: str, tmp_path: Path
) -> None:
    """Of an image that nothing is declared of nothing is said."""
    content = settings(tmp_path, TORCH | {"pool": pool}, image_architectures=declared)
    (job,) = jobs.every(parse(content, "test", root=tmp_path))
    assert isinstance(job, jobs.ProgramJob)
    assert job.image == TRAIN


def test_a_program_has_an_image_for_each_kind_of_processor(tmp_path: Path) -> None:
    """Of a program's images the first for the pool's processors is used."""
    content = settings(tmp_path, TORCH, image_architectures={TRAIN: ["amd64"], f"{TRAIN}-arm64": ["arm64"]})
    content["programs"]["train"]["images"] = [TRAIN, f"{TRAIN}-arm64"]
    other = {**TORCH, "name": "other", "pool": "training"}
    content["stages"][0]["workloads"].append(other)
    found = {job.name: job.image for job in jobs.every(parse(content, "test", root=tmp_path)) if job.layout}
    assert found == {"it-01x08": f"{TRAIN}-arm64", "other-01x08": TRAIN}
