"""From 4.18 to 4.22 on the same stack, with nothing but what `./hpc upgrade check` prints: docs/guide/upgrade.md."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
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
FIRST, LAST = "4.18", "4.22"
VERSIONS = {
    "gpu.operator.channel": "v25.10",
    "gpu.driver.version": "580.105.08",
    "fabric.plugin.operator.channel": "v25.10",
    "fabric.plugin.shared.version": "network-operator-v25.10.0",
    "fabric.plugin.driver.version": "doca3.2.0-25.10-1.2.8.0-2",
}
"""Setting -> its value at first: operators of 2025."""
WAY = [
    *("gpu-operator 26.3", "gpu-operator 26.7"),
    *("network-operator 26.1", "network-operator 26.4", "network-operator 26.7"),
    *("openshift 4.19", "openshift 4.20", "openshift 4.21", "openshift 4.22"),
]
NOTHING = "Nothing changes."
JOB = ("nccl-test-01x08", "training")
_ATTEMPTS = 4
"""Updates of one step at most: each may end by the drivers of one operator."""


def put(values: Mapping[str, str | None]) -> Callable[[dict[str, Any]], None]:
    """Return what puts values into settings, by their paths."""

    def edit(platform: dict[str, Any]) -> None:
        for path, value in values.items():
            *parents, last = path.split(".")
            part = platform
            for parent in parents:
                part = part[parent]
            part[last] = value

    return edit


def at_first(platform: dict[str, Any]) -> None:
    """Make a stack of the example: two machines on 4.18 with operators of 2025, and one job."""
    example = yaml.safe_load(EXAMPLE.read_text())["config"]["hpc:platform"]
    cluster = platform["cluster"]
    platform.clear()
    platform.update(example | {"cluster": cluster, "release": FIRST})
    put(VERSIONS)(platform)
    for group, name in zip(platform["nodes"], ("master01", "worker01", "dgx[01-02]"), strict=True):
        group["name"] = f"{name}.h200.example.com"
    platform["tenants"] = [{**tenant, "gpu_quota": 16} for tenant in platform["tenants"]]
    platform.pop("suite", None)  # it repeats jobs that this stack does not have
    platform["stages"] = [stage for stage in platform["stages"] if stage["name"] == "nccl"]
    del platform["stages"][0]["workloads"][1:]


@dataclass(frozen=True)
class Walked:
    """A lab after the way, with all output."""

    lab: Lab
    steps: tuple[Mapping[str, Any], ...]
    printed: Mapping[str, str]
    """Step -> output of its commands."""
    jobs: tuple[frozenset[str], ...]
    """Which objects the stack's job was: after the steps of operators, run again after each step of OpenShift."""
    configurations: frozenset[str]
    """Which MachineConfigs there were, after each step: nodes restart for another one."""

    @property
    def said(self) -> str:
        """All of the output."""
        return "\n".join(self.printed.values())


def job(lab: Lab) -> str:
    """Return which object the stack's job is."""
    return str(lab.api.get(kinds.MPI_JOB_V2BETA1, *JOB)["metadata"]["uid"])


def configurations(lab: Lab) -> str:
    """Return the MachineConfigs of the stack with their content."""
    items = lab.api.list(kinds.MACHINE_CONFIG)["items"]
    return json.dumps(sorted((item["metadata"]["name"], json.dumps(item["spec"], sort_keys=True)) for item in items))


def restart_drivers(lab: Lab) -> None:
    """Delete the pods of drivers, which are replaced when they are deleted."""
    for space in ("nvidia-gpu-operator", "nvidia-network-operator"):
        sets = lab.api.list(kinds.DAEMON_SET, space)["items"]
        drivers = {item["metadata"]["uid"] for item in sets if item["spec"]["updateStrategy"]["type"] == "OnDelete"}
        for pod in lab.api.list(kinds.POD, space)["items"]:
            if {owner["uid"] for owner in pod["metadata"].get("ownerReferences", ())} & drivers:
                lab.api.delete(kinds.POD, pod["metadata"]["name"], space)


def updated(lab: Lab) -> str:
    """Update the stack, restarting drivers whenever that ends by them; return the output."""
    printed = ""
    for _ in range(_ATTEMPTS):
        done = lab.hpc("up")
        printed += done.stdout + done.stderr
        if done.returncode == 0:
            return printed
        assert "have an earlier template" in done.stdout + done.stderr, done.stdout + done.stderr
        restart_drivers(lab)
    raise AssertionError(printed)


def taken(lab: Lab, step: Mapping[str, Any]) -> str:
    """Take a step as it is printed; return the output of its commands."""
    lab.change(put(step["settings"]))
    if step["component"] != "openshift":
        return lab.works("diff") + updated(lab)
    done = lab.hpc("diff")
    if done.returncode == 0:
        return done.stdout
    raised = lab.works("sim", "up", "--stack", "dev", "--raise")
    return done.stdout + done.stderr + raised + lab.works("diff")


def run_again(lab: Lab, run: int) -> None:
    """Run the job again, to its good end."""

    def edit(platform: dict[str, Any]) -> None:
        platform["stages"][0]["workloads"][0]["run"] = run

    lab.change(edit)
    lab.works("up")
    lab.works("verify")


def refused(lab: Lab) -> str:
    """Try the way over a stop, and take it back; return the output."""
    lab.change(put({"gpu.operator.channel": "v26.7"}))
    printed = lab.fails("diff") + lab.fails("up")
    lab.change(put({"gpu.operator.channel": VERSIONS["gpu.operator.channel"]}))
    return printed


@pytest.fixture(scope="module")
def walked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Walked]:
    """Give a lab after the steps that the command prints."""
    for kubernetes in ("1.34", "1.35"):
        require_tools(ClusterSpec.model_validate({"nodes": FULL.nodes, "mpi": "v2beta1", "kubernetes": kubernetes}))
    with checkout(tmp_path_factory.mktemp("today")) as lab:
        lab.change(at_first)
        lab.works("up")
        jobs, machine_configs = [{job(lab)}], [configurations(lab)]
        printed = {"refused": refused(lab), "way": lab.works("upgrade", "check", "--to", LAST)}
        steps = json.loads(lab.works("upgrade", "check", "--to", LAST, "--json"))["steps"]
        for step in steps:
            printed[f"{step['component']} {step['to']}"] = taken(lab, step)
            jobs[-1].add(job(lab))
            if step["component"] == "openshift":
                run_again(lab, len(jobs) + 1)
                jobs.append({job(lab)})
            machine_configs.append(configurations(lab))
        yield Walked(lab, tuple(steps), printed, tuple(map(frozenset, jobs)), frozenset(machine_configs))


def test_the_way_goes_by_all_stops(walked: Walked) -> None:
    """From the cluster the command finds what runs, and every step is supported."""
    assert [f"{step['component']} {step['to']}" for step in walked.steps] == WAY
    assert {step["verdict"] for step in walked.steps} == {"supported"}
    assert {step["problems"] for step in walked.steps} == {""}


def test_a_way_over_a_stop_is_refused(walked: Walked) -> None:
    """A review and an update of 25.10 to 26.7 name the stop, and change nothing."""
    assert walked.printed["refused"].count("go to 26.3 first") == 2
    assert "nothing was changed" in walked.printed["refused"].replace("\n", " ")


def test_no_job_runs_again_and_no_node_restarts_for_the_stack(walked: Walked) -> None:
    """The job is the same object until it is run again, and so are the configurations for which nodes restart."""
    assert [len(objects) for objects in walked.jobs] == [1] * 5
    assert len(frozenset.union(*walked.jobs)) == 5
    assert len(walked.configurations) == 1
    for release in ("4.19", "4.20", "4.21", "4.22"):
        assert NOTHING in walked.printed[f"openshift {release}"]


def test_at_the_end_nothing_is_left_to_do(walked: Walked) -> None:
    """The cluster has the versions of the settings, a job has run on each release, and nodes have the last one."""
    assert re.search(r"objects on the cluster: \d+ unchanged\n$", walked.lab.works("up"))
    assert "Nothing to do" in walked.lab.works("upgrade", "check")
    nodes = walked.lab.api.list(kinds.NODE)["items"]
    assert {node["status"]["nodeInfo"]["kubeletVersion"].partition("+")[0] for node in nodes} == {"v1.35.4"}
    said = walked.lab.works("sim", "up", "--stack", "dev")
    assert "runs already" in said
    assert "it serves Kubernetes" not in said


def test_commands_print_what_the_page_has(walked: Walked) -> None:
    """Every line of output that the page shows is printed."""
    page = PAGE.read_text().partition("\n## From release 4.4")[0]
    shown = [line for block in re.findall(r"```text\n(.*?)```", page, re.DOTALL) for line in block.splitlines()]
    assert shown
    said = " ".join(re.sub(r"\bdev\b", "S", walked.said).split())
    assert not [line for line in shown if line not in said]
