"""From 4.20 to 4.22 on the same stack: the steps of docs/guide/upgrade.md, carried out.

Its second step, 4.21, is left out: neither the stack nor a simulated cluster changes there.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
import yaml

from core.apis import kinds
from tests.support.clusters import FULL, require_tools
from tests.support.lab import Lab, checkout
from tests.support.recorded import ROOT
from toolkit.simulator.cluster import ClusterSpec

pytestmark = pytest.mark.cluster

PAGE = ROOT / "docs" / "guide" / "upgrade.md"
EXAMPLE = ROOT / "stacks" / "examples" / "h200-infiniband.yaml"
VERSIONS = {
    "gpu.operator.channel": ("v25.10", "v26.7"),
    "gpu.driver.version": ("580.105.08", "595.91.07"),
    "fabric.plugin.operator.channel": ("v25.10", "v26.4"),
    "fabric.plugin.shared.version": ("network-operator-v25.10.0", "network-operator-v26.4.1"),
    "fabric.plugin.driver.version": ("doca3.2.0-25.10-1.2.8.0-2", "doca3.4.1-26.04-1.1.0.0-1"),
}
"""Setting -> its value before and after step 1."""
NOTHING = "Nothing changes."
JOB = ("nccl-test-01x08", "training")


def versions(step: int) -> Callable[[dict[str, Any]], None]:
    """Return what gives a stack the versions of operators and drivers from before (0) or after (1) step 1."""

    def edit(platform: dict[str, Any]) -> None:
        for path, values in VERSIONS.items():
            *parents, last = path.split(".")
            part = platform
            for parent in parents:
                part = part[parent]
            part[last] = values[step]

    return edit


def release(name: str) -> Callable[[dict[str, Any]], None]:
    """Return what gives a stack another release."""
    return lambda platform: platform.update(release=name)


def at_first(platform: dict[str, Any]) -> None:
    """Make a stack of the example: two machines on 4.20 with operators of then, and one job."""
    example = yaml.safe_load(EXAMPLE.read_text())["config"]["hpc:platform"]
    cluster = platform["cluster"]
    platform.clear()
    platform.update(example | {"cluster": cluster, "release": "4.20"})
    versions(0)(platform)
    for group, name in zip(platform["nodes"], ("master01", "worker01", "dgx[01-02]"), strict=True):
        group["name"] = f"{name}.h200.example.com"
    platform["tenants"] = [{**tenant, "gpu_quota": 16} for tenant in platform["tenants"]]
    platform.pop("suite", None)  # it repeats jobs that this stack does not have
    platform["stages"] = [stage for stage in platform["stages"] if stage["name"] == "nccl"]
    del platform["stages"][0]["workloads"][1:]


@dataclass(frozen=True)
class Walked:
    """A lab after the steps, with their output; the last review is of a new release alone."""

    lab: Lab
    job: str
    """Its uid before the first step."""
    refused: str
    operators: str
    raised: str
    release: str

    @property
    def said(self) -> str:
        """All of the output."""
        return "\n".join((self.refused, self.operators, self.raised, self.release))


def uid(lab: Lab) -> str:
    """Return which object the stack's job is."""
    return str(lab.api.get(kinds.MPI_JOB_V2BETA1, *JOB)["metadata"]["uid"])


def restart_drivers(lab: Lab) -> None:
    """Delete the pods of drivers, which are replaced when they are deleted."""
    for space in ("nvidia-gpu-operator", "nvidia-network-operator"):
        sets = lab.api.list(kinds.DAEMON_SET, space)["items"]
        drivers = {each["metadata"]["uid"] for each in sets if each["spec"]["updateStrategy"]["type"] == "OnDelete"}
        for pod in lab.api.list(kinds.POD, space)["items"]:
            if {each["uid"] for each in pod["metadata"].get("ownerReferences", ())} & drivers:
                lab.api.delete(kinds.POD, pod["metadata"]["name"], space)


def new_drivers(lab: Lab) -> str:
    """Update the stack, restarting the drivers of an operator whenever that ends by them; return the output."""
    said = lab.fails("up")
    for _ in ("GPUs", "network"):
        restart_drivers(lab)
        done = lab.hpc("up")
        said += done.stdout + done.stderr
        if done.returncode == 0:
            return said
    raise AssertionError(said)


@pytest.fixture(scope="module")
def walked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Walked]:
    """Give a lab after the steps of the page."""
    for kubernetes in ("1.34", "1.35"):
        require_tools(ClusterSpec.model_validate({"nodes": FULL.nodes, "mpi": "v2beta1", "kubernetes": kubernetes}))
    with checkout(tmp_path_factory.mktemp("today")) as lab:
        lab.change(at_first)
        lab.works("up")
        job = uid(lab)
        lab.change(release("4.21"))
        refused = lab.fails("diff")
        lab.change(release("4.20"))
        lab.change(versions(1))
        operators = lab.works("diff") + new_drivers(lab)
        lab.change(release("4.22"))
        raised = lab.fails("diff") + lab.works("sim", "up", "--stack", "dev", "--raise")
        yield Walked(lab, job, refused, operators, raised, lab.works("diff"))


def test_reviews_say_what_the_page_has(walked: Walked) -> None:
    """Every line of output that the page shows is printed, and it shows the versions of step 1."""
    page = PAGE.read_text()
    shown = [line for block in re.findall(r"```text\n(.*?)```", page, re.DOTALL) for line in block.splitlines()]
    assert shown
    said = " ".join(re.sub(r"\bdev\b", "S", walked.said).split())
    assert not [line for line in shown if line not in said]
    for path, (before, after) in VERSIONS.items():
        assert f"| `{path}` | {before} | {after} |" in page


def test_another_release_alone_changes_nothing(walked: Walked) -> None:
    """The stack declares the same on 4.20 and 4.22: a review finds no change, and no job runs again."""
    assert NOTHING not in walked.operators
    assert NOTHING in walked.release
    assert re.search(r"objects on the cluster: \d+ unchanged\n$", walked.lab.works("up"))
    assert uid(walked.lab) == walked.job


def test_the_cluster_has_the_kubernetes_of_the_release(walked: Walked) -> None:
    """Nodes report the release's Kubernetes, and no other version is on the cluster."""
    nodes = walked.lab.api.list(kinds.NODE)["items"]
    assert {node["status"]["nodeInfo"]["kubeletVersion"].partition("+")[0] for node in nodes} == {"v1.35.4"}
    said = walked.lab.works("sim", "up", "--stack", "dev")
    assert "runs already" in said
    assert "it serves Kubernetes" not in said
