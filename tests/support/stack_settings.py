"""Settings of the project's stacks as data, to be changed, and what `parse` says of them."""

import re
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from stacks.layers.job_arguments import AnyArgs, of_job
from stacks.loading import bases
from stacks.loading.settings import SettingsError, parse, whole
from stacks.resolved import jobs
from stacks.settings.platform import Settings
from stacks.settings.resolved_pool import Pool
from tests.support.recorded import ROOT

MPI = {"kind": "mpi", "program": "nccl-all-reduce", "layout": {"pods": 2, "gpus": 8}}
"""A job over two machines, for `example`."""
_OF_NODES = ("switches", "scheduler")
SMOKE = {"kind": "job", "program": "cuda-vector-add"}
"""A job of one GPU, for `example`."""


def data(stack: str, *, cabled: bool = False) -> dict[str, Any]:
    """Return the data of a stack, a copy; `cabled`: with switches and partitions, which fit its own nodes alone.

    Its suite, which names jobs, is left out, so that these can be changed.
    """
    content = deepcopy(_whole(stack))
    content.pop("suite", None)
    if not cabled and "site" in content:
        content["site"] = {key: value for key, value in content["site"].items() if key not in _OF_NODES}
    return content


def only_pool(settings: Settings) -> Pool:
    """Return the pool of a stack that has one."""
    (pool,) = settings.gpu_pools
    return pool


def first_args(settings: Settings) -> AnyArgs:
    """Return the arguments of the first job of a stack, without locks."""
    return of_job(next(jobs.every(settings)), settings)


@cache
def _whole(stack: str) -> dict[str, Any]:
    content: dict[str, Any] = whole(stack, ROOT).data
    return content


def in_one(file: Path) -> dict[str, Any]:
    """Return the content of a stack's file in the folder of its project, with the settings of its bases in it."""
    content: dict[str, Any] = yaml.safe_load(file.read_text())
    settings = bases.whole(content["config"]["hpc:platform"], file.name, file.parent)
    return {**content, "config": {**content["config"], "hpc:platform": settings.data}}


def expect_message(text: str, expected: str) -> None:
    """Assert that a line of `text` has what `expected` has between its …, in that order: field, value and remedy."""
    pattern = ".*".join(re.escape(part.strip()) for part in expected.split("…"))
    assert re.search(pattern, text), f"no line has {expected!r}:\n{text}"


def expect_refusal(content: object, expected: str) -> None:
    """Assert that `content` is refused with what `expected` has between its …."""
    expect_message(message(content), expected)


def changed(stack: str, **settings: Any) -> dict[str, Any]:
    """Return the data of a stack with other settings; a path has __ between its parts."""
    content = data(stack)
    for path, value in settings.items():
        *parents, last = path.split("__")
        part: Any = content
        for parent in parents:
            part = part[int(parent) if parent.isdecimal() else parent]
        part[int(last) if last.isdecimal() else last] = value
    return content


def example(stack: str, workload: dict[str, Any]) -> dict[str, Any]:
    """Return the data of a stack with a single workload, of its first tenant."""
    content = data(stack)
    first = {"tenant": content["tenants"][0]["namespace"], "name": "it"}
    return content | {"stages": [{"name": "all", "workloads": [first | workload]}], "suite": None}


def message(content: object) -> str:
    """Return the error with which the settings are refused."""
    with pytest.raises(SettingsError) as caught:
        parse(content, "Pulumi.test.yaml")
    return str(caught.value)
