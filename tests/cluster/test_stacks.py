"""Every stack that can run, from one command to its jobs' ends; dev and the Redpaper's own example have other tests."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from core.apis.suite import REPEATS
from stacks.loading.settings import Settings, file, load
from stacks.settings.tenants import SuiteSettings
from tests.support import checkouts
from tests.support.clusters import homes
from tests.support.recorded import OURS
from tests.support.rounds import ROUNDS
from toolkit.cli.shared.paths import ROOT
from toolkit.cli.shared.stack import Stack
from toolkit.cli.status.command import look
from toolkit.cli.status.jobs import FAILED
from toolkit.cli.verify.expectations import requests
from toolkit.engine import tools
from toolkit.engine.errors import SimulatorError
from toolkit.evidence.fitness import is_node_test
from toolkit.simulator import cluster

pytestmark = pytest.mark.cluster

ELSEWHERE = {"a2d2", "dev", "pytorch", "redpaper-4.4", "two-layers", "two-layers-tenants"}
"""test_data_set.py, test_layers.py, test_pytorch.py, test_redpaper.py, test_examples_on_a_cluster.py."""
RUN = [name for name in OURS if name not in ELSEWHERE and load(name, ROOT).version.simulated_as]
SMALLER = {
    "superpod-a100": {
        "dgx[001-140]": "dgx[001-050]",
        "dgx140": "dgx050",
        "gpu_quota: 160": "gpu_quota: 80",
        "gpu_quota: 480": "gpu_quota: 160",
    }
}
"""What makes an example smaller: 140 nodes took the API server alone 105 s of CPU time. HPC_ROUNDS=10 leaves them."""
END_SECONDS = "300"
"""How long jobs that an update only sees start may take to their end."""


@pytest.fixture
def clusters(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Give a folder for simulated clusters; whatever is in it at the end is removed."""
    try:
        tools.ensure()
    except SimulatorError as error:
        pytest.skip(f"needs the simulated cluster's tools: {error}")
    folder = homes() / f"hpc-stacks-{os.getpid()}"
    folder.mkdir(exist_ok=True)
    monkeypatch.setenv("HPC_SIM_HOME", str(folder))
    yield
    for home in filter(Path.is_dir, folder.iterdir()):
        cluster.clean(home)
    shutil.rmtree(folder)


@dataclass(frozen=True)
class Example:
    """A stack in a checkout, and ./hpc with it."""

    root: Path
    name: str

    @property
    def stack(self) -> Stack:
        """The stack with its settings."""
        return Stack(self.name, load(self.name, self.root))

    def hpc(self, *arguments: str, status: int = 0) -> str:
        """Run ./hpc to its end, with a given status; return what it prints."""
        outside = {key: value for key, value in os.environ.items() if not key.startswith("PULUMI_")}
        words = (str(self.root / "hpc"), *arguments, "--stack", self.name)
        done = subprocess.run(words, cwd=self.root, env=outside, capture_output=True, text=True, check=False)
        assert done.returncode == status, done.stdout + done.stderr
        return done.stdout


def _example(name: str, folder: Path) -> Example:
    """Return an example in this checkout; a large one in a copy where it is smaller."""
    if name not in SMALLER or ROUNDS > 1:
        return Example(ROOT, name)
    root = checkouts.copy(folder)
    settings = file(name, root)
    text = settings.read_text()
    for old, new in SMALLER[name].items():
        assert old in text, f"{settings.name} has no {old!r} any more"
        text = text.replace(old, new)
    settings.write_text(text)
    return Example(root, name)


def _jobs(settings: Settings) -> int:
    """Return how many jobs the stack has; an RDMA test is two of them."""
    every = [workload for stage in settings.stages for workload in stage.workloads]
    return len(every) + sum(workload.kind == "rdma-test" for workload in every)


def _runs_its_suite(example: Example, suite: SuiteSettings) -> None:
    """Start a round of two repeats from the CronJob, as a user does: its pod may do what it must, and is then read."""
    client = [str(tools.find("kubectl")), "--kubeconfig", str(example.stack.kubeconfig), "-n", suite.tenant]

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
    printed = example.hpc("suite", status=2)
    assert "1 round" in printed
    assert "fail" not in printed.splitlines()[-1]


@pytest.mark.usefixtures("clusters")
@pytest.mark.parametrize("stack", RUN)
def test_stack_runs_from_one_command(stack: str, tmp_path: Path) -> None:
    """One command brings an example up: its jobs pass, and its nodes offer their GPUs and RDMA devices."""
    example = _example(stack, tmp_path)
    settings = example.stack.settings
    example.hpc("up")
    # Waits until the jobs that the update has only seen start have ended.
    assert "passed: " in example.hpc("verify", "--wait", END_SECONDS).splitlines()[-2]
    if any(is_node_test(one) for one in requests(settings, {})):
        # It ends with 0 where every node was tested and is fit.
        assert "unfit" not in example.hpc("nodes")
    assert "as predicted" in example.hpc("scc", "check")
    if settings.suite:
        _runs_its_suite(example, settings.suite)
    found = look(example.stack)
    machines = {node.name for node in settings.gpu_nodes}
    seen = {node.name: node for node in found.nodes if node.name in machines}
    assert seen.keys() == machines
    for node in seen.values():
        pool = settings.pool_with(node.name)
        assert pool, node
        assert node.gpus == pool.machine.gpus, node
        assert set(node.rdma) == set(pool.rdma_resources), node
        assert set(node.rdma.values()) <= {getattr(pool.fabric, "hca_max", 0)}, node
    assert not any(node.gpus for node in found.nodes if node.name not in machines)
    assert len(found.jobs) == _jobs(settings)
    assert {job.state for job in found.jobs} == {"Succeeded"}, found.jobs
    assert FAILED not in {part.state for part in found.parts}
    example.hpc("pulumi", "preview", "--expect-no-changes")
