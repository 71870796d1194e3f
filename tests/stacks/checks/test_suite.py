"""What a suite names and its stack lacks: one message each, with path, value and remedy."""

from typing import Any

import pytest

from tests.stacks.kit import with_suite
from tests.support.stack_settings import changed, expect_refusal


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"tenant": "adas"}, "suite.tenant 'adas' is not a tenant; known: training"),
        ({"stages": ["night"]}, "suite.stages: 'night' is not a stage; known: nodes, rdma, nccl, training"),
        ({"workloads": ["bert"]}, "suite.workloads: 'bert' is not a workload of tenant training; known: … nccl-test"),
        (
            {"stages": ["rdma"], "workloads": ["nccl-test"]},
            "suite.workloads: 'nccl-test' is not a workload … in rdma; known: mofed-test-job",
        ),
        ({"stages": ["training"]}, "suite: tenant training has no verification jobs in training …; … name `workloads`"),
        ({"schedule": "0 2 * * 9"}, "suite.schedule: day of the week '9' …; give 0 to 6 … (value: '0 2 * * 9')"),
        ({"time_zone": "Mars/Base"}, "suite.time_zone: is not a time zone …; write e.g. … (value: 'Mars/Base')"),
        ({"repeats": 10}, "suite.repeats: exceeds 9 (value: 10); lower it"),
        ({"image": "ose-cli"}, "suite.image: … (value: 'ose-cli')"),
    ],
)
def test_a_suite_that_cannot_be_is_refused(changes: dict[str, Any], expected: str) -> None:
    """Unknown tenants, stages and workloads are named with those that there are; times by their field."""
    expect_refusal(with_suite(**changes), expected)


def test_more_gpus_than_the_quota_are_refused_at_the_job() -> None:
    """A suite runs jobs of the stages one at a time: what cannot run there is refused there, once."""
    content = with_suite()
    content["tenants"][0]["gpu_quota"] = 16
    expect_refusal(content, "stages: job nccl-test-04x08: layout 04x08 takes 32 GPUs, … gpu_quota of 16; lower the one")


def test_a_time_zone_needs_a_release_that_has_it() -> None:
    """4.4 reads schedules in the controller's time zone alone."""
    tenant = changed("redpaper-4.4")["tenants"][0]["namespace"]
    content = with_suite("redpaper-4.4", tenant=tenant, time_zone="Europe/Berlin")
    expect_refusal(
        content, "suite.time_zone: OpenShift 4.4 does not support a time zone … (value: 'Europe/Berlin'); leave"
    )


def test_a_simulated_cluster_of_4_4_has_no_early_cron_jobs() -> None:
    """It serves a later Kubernetes than the release has, without batch/v1beta1."""
    content = with_suite("redpaper-4.4", tenant=changed("redpaper-4.4")["tenants"][0]["namespace"])
    content["cluster"]["simulated"] = True
    expect_refusal(content, "suite: … 4.4 serves Kubernetes 1.34, which has no CronJob of batch/v1beta1; leave it out")


def test_a_name_must_have_room_for_round_and_repeat() -> None:
    """The builder that refuses a job's own name refuses that of its runs, too."""
    content = with_suite(workloads=["n" * 40])
    content["stages"][2]["workloads"][0]["name"] = "n" * 40
    expect_refusal(content, "suite: … worker-3 must be a DNS-1035 label …; shorten … (a run's name ends with its round")
