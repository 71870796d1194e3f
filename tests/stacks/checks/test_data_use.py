"""Data sets on their volumes, and the workloads that stage and read them."""

from typing import Any

import pytest

from stacks.loading.settings import parse
from tests.support.data_sets import BIKES, INFER, SETS, SPLIT, STAGE, TRAIN, staged
from tests.support.stack_settings import data, expect_refusal


def test_jobs_after_their_staging() -> None:
    """A training and an inference on a part of what an earlier stage stages are accepted."""
    assert parse(staged(TRAIN | {"split": "train"}, INFER, data_set=SPLIT), "test")


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (staged(TRAIN, before=None), "job train: data_set bikes is staged in no earlier stage; add … kind stage-data"),
        (staged(STAGE, TRAIN, before=None), "job train: data_set bikes is staged in no earlier stage"),
        (staged(TRAIN | {"data_set": "cars"}), "job train has data_set 'cars', and data_sets of training has bikes"),
        (staged(TRAIN, before=STAGE | {"data_set": "cars"}), "job stage-cars has data_set 'cars' … correct the name"),
        (staged(TRAIN | {"split": "train"}), "split 'train' of data_set bikes: it has none"),
        (staged(TRAIN | {"split": "test"}, data_set=SPLIT), "split 'test' of … it has train, validation"),
        (staged(TRAIN | {"data_set": None, "split": "train"}), "split train of train: … no data_set"),
        (
            staged(TRAIN, program={"mounts": {"/data-sets": {"volume": "out"}}}),
            "mounts /data-sets, where data set bikes is, /data-sets/bikes; move its mount",
        ),
        (staged(INFER | {"results": "/elsewhere"}), "results /elsewhere is on no volume … (/out)"),
        (
            staged(INFER, program={"mounts": {"/out": {"volume": "out", "read_only": True}}}),
            "results /out/infer is on volume out, which is read-only; use a writable one",
        ),
        (staged(TRAIN, STAGE), "job 'training/stage-bikes' is given twice"),
    ],
)
def test_what_no_job_could_do(content: dict[str, Any], expected: str) -> None:
    """Sets that are unknown or not staged, parts that no one has, and results that no pod can leave are refused."""
    expect_refusal(content, expected)


@pytest.mark.parametrize(
    ("mode", "access_mode", "expected"),
    [
        (None, "ReadWriteMany", "a cache of mode parallel (the default) … set the class's mode readonly"),
        ("detached", "ReadWriteMany", "a cache of mode detached … access_mode ReadOnlyMany"),
    ],
)
def test_a_set_on_a_cache_that_can_be_changed(mode: str | None, access_mode: str, expected: str) -> None:
    """On a cache that is not read-only a job could change the source, or hide what it has."""
    expect_refusal(cached(mode, access_mode), f"data_sets.bikes of adas is on volume sets, {expected}")


def test_a_set_on_a_read_only_cache() -> None:
    """A read-only cache is what a set is for."""
    assert parse(cached("readonly", "ReadOnlyMany"), "test")


def cached(mode: str | None, access_mode: str) -> dict[str, Any]:
    """Return the settings of stack redpaper-today with a data set on a cache."""
    content = data("redpaper-today")
    cache = {"kind": "cache", "secret": "bucket"} | ({"mode": mode} if mode else {})
    made = {"class_name": "cache", "file_system": "ess3000_4M", "cluster_id": "215057217487177715", "volumes": cache}
    content["storage"]["classes"] = [made]
    content["tenants"][0]["volumes"] += [
        SETS | {"storage_class": "cache", "access_mode": access_mode, "read_only": False}
    ]
    content["tenants"][0]["data_sets"] = [BIKES]
    return content
