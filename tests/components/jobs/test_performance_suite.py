"""The CronJob of a suite, its account, and the jobs that its pod creates."""

import json

import pytest
from pydantic import ValidationError

from components.jobs import gpu_job as batch
from components.jobs.performance_suite import PerformanceSuite, cron_job_spec, files
from components.jobs.suite_runs import run_of
from core.apis import kinds, suite
from tests.components.kit import gpu_job, performance_suite
from tests.support.declared import Manifest, declared, faults, only


def suite_of(**changes: object) -> list[Manifest]:
    """Return what a suite declares; the policies have no finding about it."""
    found = declared(lambda: PerformanceSuite("suite", performance_suite(**changes)))
    assert faults(found) == []
    return found


def test_rounds_do_not_overlap_and_old_ones_go() -> None:
    """A round that is due while one runs is left out; a missed one begins within the hour, or not at all."""
    cron = only(suite_of(), "CronJob")
    spec = cron["spec"]
    assert (cron["apiVersion"], spec["schedule"], spec["timeZone"]) == ("batch/v1", "0 2 * * 6", "Europe/Berlin")
    assert (spec["concurrencyPolicy"], spec["startingDeadlineSeconds"]) == ("Forbid", 3600)
    assert (spec["successfulJobsHistoryLimit"], spec["failedJobsHistoryLimit"]) == (3, 3)
    job = spec["jobTemplate"]["spec"]
    assert job["backoffLimit"] == 0
    assert job["activeDeadlineSeconds"] == 5 * 2 * (3600 + 10) + 600


def test_an_early_release_has_the_cron_job_of_its_api() -> None:
    """3.11 and 4.4 serve batch/v1beta1, without a time zone."""
    cron = only(suite_of(kind=kinds.CRON_JOB_V1BETA1, time_zone=None, seccomp=False), "CronJob")
    assert cron["apiVersion"] == "batch/v1beta1"
    assert "timeZone" not in cron["spec"]
    pod = cron["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    assert pod["securityContext"] == {"runAsNonRoot": True}


def test_its_account_may_do_what_the_script_does_and_no_more() -> None:
    """Rights are for the kinds of its jobs, in one namespace: no watch, no update, no pods."""
    found = suite_of()
    role = only(found, "Role")
    assert role["metadata"]["namespace"] == "nvidia"
    verbs = ["create", "delete", "get", "list"]
    assert role["rules"] == [
        {"apiGroups": [""], "resources": ["services"], "verbs": verbs},
        {"apiGroups": ["batch"], "resources": ["jobs"], "verbs": verbs},
    ]
    (subject,) = only(found, "RoleBinding")["subjects"]
    account = only(found, "ServiceAccount")["metadata"]["name"]
    assert (subject["name"], subject["namespace"], account) == ("suite-runner", "nvidia", "suite-runner")


def test_its_pod_is_an_ordinary_one() -> None:
    """No GPU, no capability, no user of its own: the restricted SCC admits it."""
    pod = cron_job_spec(performance_suite())["jobTemplate"]["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert container["securityContext"] == {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
    assert container["resources"]["limits"] == {"cpu": "100m", "memory": "256Mi"}
    assert pod["serviceAccountName"] == "suite-runner"
    (preferred,) = pod["affinity"]["nodeAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"]
    assert {"key": "nvidia.com/gpu.present", "operator": "DoesNotExist"} in preferred["preference"]["matchExpressions"]


def test_a_run_is_the_job_of_the_stack_under_another_name() -> None:
    """Spec and builder are the same; labels say what it repeats, and that no update made it."""
    name = f"maskrcnn-{suite.RUN_TOKEN}"
    (run,) = run_of("maskrcnn", gpu_job(job_name=name, queue="jobs"), "nightly", {"OpenShift": "4.21"}).objects
    assert run["spec"] == batch.spec(gpu_job(job_name=name))
    assert run["metadata"]["name"] == name
    assert run["metadata"]["annotations"] == {suite.VERSIONS: '{"OpenShift": "4.21"}'}
    labels = run["metadata"]["labels"]
    assert labels[suite.SUITE] == "nightly"
    assert labels[suite.JOB] == "maskrcnn"
    assert labels[suite.ROUND] == "yymmddhhmm"
    assert labels["app.kubernetes.io/managed-by"] == "suite"
    assert labels["kueue.x-k8s.io/queue-name"] == "jobs"


def test_the_plan_has_a_line_for_each_job() -> None:
    """Manifest, kind, name, seconds and labels; a job with a Service is a list, created in order."""
    content = files(performance_suite())
    assert content["plan"].splitlines() == [
        "00-maskrcnn.json jobs.v1.batch maskrcnn-yymmddhhmm-n 3600 maskrcnn",
        "01-train.json jobs.v1.batch train-yymmddhhmm-n 3600 train-pods,train",
    ]
    assert json.loads(content["00-maskrcnn.json"])["kind"] == "Job"
    assert [each["kind"] for each in json.loads(content["01-train.json"])["items"]] == ["Service", "Job"]


def test_what_cannot_be_a_suite_is_refused() -> None:
    """A job twice, a name that the controller cannot lengthen, and more than a ConfigMap takes."""
    (run, _) = performance_suite().runs
    with pytest.raises(ValidationError, match="maskrcnn is given twice; name it once"):
        performance_suite(runs=(run, run))
    with pytest.raises(ValidationError, match="at most 52 characters"):
        performance_suite(name="s" * 53)
    with pytest.raises(ValidationError, match=r"1 jobs have .* a ConfigMap takes 1048576; name fewer"):
        performance_suite(runs=(run,), script="#" * (1 << 20))
