"""Every stack that can run, from one command to its jobs' ends; dev and the Redpaper's own example have other tests."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from apis.suite import REPEATS
from cli.shared import stack as stacks
from cli.shared.paths import ROOT
from cli.status.command import look
from cli.status.jobs import FAILED
from cli.verify.expectations import requests
from evidence.fitness import is_node_test
from simulator import cluster, tools
from simulator.errors import SimulatorError
from stacks.settings import Settings, known, load
from stacks.suite_settings import SuiteSettings
from tests.support.clusters import homes

pytestmark = pytest.mark.cluster

ELSEWHERE = {"a2d2", "dev", "pytorch", "redpaper-4.4", "two-layers", "two-layers-tenants"}
"""test_data_set.py, test_layers.py, test_pytorch.py, test_redpaper.py, and cli/test_examples_on_a_cluster.py."""
RUN = [name for name in known(ROOT) if name not in ELSEWHERE and load(name, ROOT).version.simulated_as]
END_SECONDS = "300"
"""How long jobs that an update only sees start may take to their end."""


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Give a folder for simulated clusters; whatever is in it at the end is removed."""
    try:
        tools.ensure()
    except SimulatorError as error:
        pytest.skip(f"needs the simulated cluster's tools: {error}")
    found = homes() / f"hpc-stacks-{os.getpid()}"
    found.mkdir(exist_ok=True)
    monkeypatch.setenv("HPC_SIM_HOME", str(found))
    yield found
    for home in filter(Path.is_dir, found.iterdir()):
        cluster.clean(home)
    shutil.rmtree(found)


def hpc(*arguments: str, status: int = 0) -> str:
    """Run ./hpc to its end, with a given status; return what it prints."""
    outside = {key: value for key, value in os.environ.items() if not key.startswith("PULUMI_")}
    done = subprocess.run([ROOT / "hpc", *arguments], env=outside, capture_output=True, text=True, check=False)
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout


def _jobs(settings: Settings) -> int:
    """Return how many jobs the stack has; an RDMA test is two of them."""
    every = [workload for stage in settings.stages for workload in stage.workloads]
    return len(every) + sum(workload.kind == "rdma-test" for workload in every)


def _runs_its_suite(stack: str, suite: SuiteSettings) -> None:
    """Start a round of two repeats from the CronJob, as a user does: its pod may do what it must, and is then read."""
    client = [str(tools.find("kubectl")), "--kubeconfig", str(stacks.read(stack).kubeconfig), "-n", suite.tenant]

    def kubectl(*arguments: str, text: str | None = None) -> str:
        done = subprocess.run([*client, *arguments], input=text, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    job = json.loads(kubectl("create", "job", "now", "--from=cronjob/suite", "--dry-run=client", "-o", "json"))
    (runner,) = job["spec"]["template"]["spec"]["containers"]
    (repeats,) = (each for each in runner["env"] if each["name"] == REPEATS)
    repeats["value"] = "2"
    kubectl("create", "-f", "-", text=json.dumps(job))
    kubectl("wait", "--for=condition=complete", "job/now", f"--timeout={END_SECONDS}s")
    assert "0 of its runs failed" in kubectl("logs", "job/now").splitlines()[-1]
    # A first round has nothing to be compared with.
    printed = hpc("verify", "--history", "--stack", stack, status=2)
    assert "1 round" in printed
    assert "fail" not in printed.splitlines()[-1]


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("stack", RUN)
def test_stack_runs_from_one_command(stack: str) -> None:
    """One command brings an example up: its jobs pass, and its nodes offer their GPUs and RDMA devices."""
    settings = load(stack, ROOT)
    hpc("up", "--stack", stack)
    # Waits until the jobs that the update has only seen start have ended.
    assert "passed: " in hpc("verify", "--stack", stack, "--wait", END_SECONDS).splitlines()[-2]
    if any(is_node_test(one) for one in requests(settings, {})):
        # It ends with 0 where every node was tested and is fit.
        assert "unfit" not in hpc("verify", "--nodes", "--stack", stack)
    assert "as predicted" in hpc("scc", "check", "--stack", stack)
    if settings.suite:
        _runs_its_suite(stack, settings.suite)
    found = look(stacks.read(stack))
    machines = {node.name for node in settings.gpu_nodes}
    seen = {node.name: node for node in found.nodes if node.name in machines}
    assert seen.keys() == machines
    for node in seen.values():
        assert node.gpus == settings.profile.gpus, node
        assert set(node.rdma) == set(settings.rdma_resources), node
        assert set(node.rdma.values()) <= {getattr(settings.fabric, "hca_max", 0)}, node
    assert not any(node.gpus for node in found.nodes if node.name not in machines)
    assert len(found.jobs) == _jobs(settings)
    assert {job.state for job in found.jobs} == {"Succeeded"}, found.jobs
    assert FAILED not in {part.state for part in found.parts}
    hpc("preview", "--stack", stack, "--expect-no-changes")
