"""The time line of a lost node, by kind of job and settings."""

from dataclasses import replace
from typing import Any

import pytest

from components.jobs.resilience import Resilience
from stacks.loading.settings import parse
from stacks.resolved import jobs, node_loss
from stacks.resolved.jobs import ProgramJob
from tests.support.stack_settings import MPI, SMOKE, example

HOROVOD = MPI | {"image": "registry.example.com/team/train:1.2"}
TORCH = HOROVOD | {"kind": "torch", "program": "torch-transformer"}
FREED = 50 + 300 + 200
"""Seconds until a node is fenced by Node Health Check and Self Node Remediation."""


def _job(workload: dict[str, Any], resilience: dict[str, Any]) -> ProgramJob:
    job = next(jobs.every(parse(example("redpaper-today", workload), "test")))
    assert isinstance(job, ProgramJob)
    return replace(job, resilience=Resilience.model_validate(resilience))


@pytest.mark.parametrize(
    ("workload", "own", "freed", "expected"),
    [
        (SMOKE, {"restart": "pods", "limit": 1}, None, (350, 350, 410)),
        (SMOKE, {"restart": "pods", "limit": 1, "lost_after": 30}, None, (80, 80, 140)),
        (SMOKE, {"restart": "pods", "limit": 1, "count_disruptions": False}, None, (350, None, None)),
        (SMOKE, {"restart": "pods", "limit": 1, "count_disruptions": False}, FREED, (350, FREED, FREED + 60)),
        (SMOKE, {"restart": "pods"}, FREED, (350, 350, None)),
        (TORCH, {"restart": "ranks", "limit": 1, "lost_after": 30}, FREED, (80, 80, None)),
        (TORCH, {"restart": "all", "limit": 1, "lost_after": 30}, None, (80, 80, None)),
        (TORCH, {"restart": "all", "limit": 1, "lost_after": 30}, FREED, (80, 80, FREED + 60)),
        (TORCH, {"restart": "all", "limit": 1, "lost_after": 30, "count_disruptions": False}, None, (80, 660, None)),
        (TORCH, {"restart": "all", "limit": 1, "count_disruptions": False}, FREED, (350, FREED, FREED + 60)),
        (TORCH, {"restart": "all", "limit": 1, "count_disruptions": False}, 900, (350, 660, 960)),
        (HOROVOD, {"restart": "ranks", "limit": 1, "lost_after": 30}, FREED, (80, 480, FREED + 60)),
        (HOROVOD, {"restart": "ranks", "limit": 1, "lost_after": 30}, None, (80, 480, None)),
    ],
)
def test_when_a_job_notices_and_goes_on(
    workload: dict[str, Any], own: dict[str, Any], freed: int | None, expected: tuple[int | None, ...]
) -> None:
    """50 s and the toleration delete its pods; it goes on when a pod may take their place, or never by itself."""
    found = node_loss.of_job(_job(workload, own), freed=freed)
    assert (found.deleted, found.noticed, found.again) == expected


def test_what_must_happen_first_is_said() -> None:
    """A job that nothing restarts fails; one that waits for a dead pod waits for its node."""
    assert node_loss.of_job(_job(SMOKE, {"restart": "pods"})).after == "fails, as nothing restarts it; raise `run`"
    waits = node_loss.of_job(_job(SMOKE, {"restart": "all", "limit": 2}))
    assert waits.after == "all pods again, once the node is back, removed or fenced"
    assert waits.lost == "all of its steps"
