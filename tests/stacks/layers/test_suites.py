"""The jobs of a suite are those of the stack, under other names."""

import json
from typing import Any

import pytest

from components.jobs.performance_suite import PerformanceSuiteArgs
from stacks.layers.suites import arguments_of
from stacks.loading.settings import parse
from tests.stacks.kit import with_suite
from tests.support.recorded import before, environment, only_object, spec


def suite(stack: str = "h100-roce", **changes: Any) -> PerformanceSuiteArgs:
    """Return the arguments of a suite."""
    settings = parse(with_suite(stack, **changes), "test")
    assert settings.suite is not None
    return arguments_of(settings.suite, settings)


def test_by_default_what_verifies_is_repeated() -> None:
    """Tests of nodes, RDMA and NCCL are; a training is not unless it is named."""
    assert [run.job for run in suite().runs] == [
        *(f"preflight-dgx{number:02d}" for number in range(1, 5)),
        "mofed-test-job",
        "nccl-test-04x08",
    ]
    assert [run.job for run in suite(workloads=["resnet50"]).runs] == ["resnet50-04x01"]


@pytest.mark.parametrize("job", ["nccl-test-04x08", "mofed-test-job", "mofed-test-job-listener"])
def test_a_run_is_what_the_stack_declares(job: str) -> None:
    """Image, account, devices and command are equal: only the name has round and repeat."""
    made = [each for run in suite().runs for each in run.objects if each["kind"] != "Service"]
    end = "-yymmddhhmm-n"
    (mine,) = (each for each in made if each["metadata"]["name"].replace(end, "") == job)
    declared = spec(environment("h100-roce"), mine["kind"], job)
    assert json.loads(json.dumps(mine["spec"]).replace(end, "")) == declared


def test_a_stack_of_kubernetes_1_17_has_an_early_cron_job() -> None:
    """The version follows from the release."""
    content = with_suite("redpaper-4.4", tenant="adas")
    content["cluster"]["simulated"] = False
    settings = parse(content, "test")
    assert settings.suite is not None
    assert arguments_of(settings.suite, settings).kind.api_version == "batch/v1beta1"


def test_it_begins_where_jobs_can_run() -> None:
    """The CronJob comes after the platform's parts and the tenant's account, and after its own rights."""
    recorded = environment("h200-infiniband")
    cron = only_object(recorded, "CronJob", "suite")
    earlier = {
        (each.type.rpartition(":")[2], each.name) for each in before(cron, {each.urn: each for each in recorded})
    }
    assert {"RoleBinding", "ConfigMap", "SecurityContextConstraints"} <= {kind for kind, _ in earlier}
