"""`./hpc hardware discover` and `check`, also with an API server that runs the Job at once."""

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from core.apis.kinds import NODE
from core.data_files import read
from core.hardware.profiles import PROFILES, Profile
from stacks.loading import settings
from tests.support.commands import finished
from tests.support.job_api import JobApi, pod, served
from tests.support.messages import has
from tests.support.node_outputs import readings
from tests.support.recorded import ROOT
from tests.support.simulated_nodes import job_log, labels
from toolkit.cli.app import app
from toolkit.cli.hardware import check, discover
from toolkit.cli.hardware.check import compared
from toolkit.cli.hardware.from_logs import command as from_logs
from toolkit.cli.shared import session
from toolkit.cli.shared import stack as stacks
from toolkit.cli.shared.errors import UNJUDGED, Problem
from toolkit.simulator.manifests import manifest

MIXED = settings.load("mixed", ROOT)
MACHINES = {pool.name: pool.machine for pool in MIXED.gpu_pools}
H100 = PROFILES["dgx-h100"]
STACK, NODES = "h100-roce", [f"dgx0{number}.h100.example.com" for number in range(1, 5)]
IMAGE = ("--image", "nvcr.io/nvidia/pytorch:25.01-py3")
_discover = partial(finished, discover.command)
_check = partial(finished, check.command)


@pytest.mark.parametrize(
    ("printed", "machine"),
    [
        (MACHINES["training"], "dgx-h100 of pool training"),
        (MACHINES["former"], "a100-pcie-server of pool former"),
        (PROFILES["dgx-b200"], "dgx-b200"),
        (MACHINES["inference"].model_copy(update={"gpu": PROFILES["dgx-b200"].gpu}), "an unknown one"),
    ],
)
def test_a_node_that_is_swapped_for_another_kind_is_found(printed: Profile, machine: str) -> None:
    """A node that prints another machine's outputs than its pool's is named with both, and the pools of both."""
    first, *_ = compared(MIXED, "l40s-01.mixed.example.com", readings(job_log(printed))).differences
    assert str(first) == (
        f"machine: expected l40s-server of pool inference, found {machine}; "
        "Name the pool of its own machine as its `pool`, or swap the node back"
    )


def test_two_lines_that_do_not_agree_are_not_compared() -> None:
    """What two lines contradict is named with both, everything else is compared; outputs of two nodes are refused."""
    log = job_log(MACHINES["inference"])
    odd = re.sub(r"MemTotal: +(\d+) kB\n", r"\g<0>MemTotal: 4699 kB\n", log)
    found = compared(MIXED, "l40s-01.mixed.example.com", readings(odd))
    assert found.differences == []
    lines = [str(each) for each in found.unknown]
    assert any(
        line.startswith("MemTotal, KiB: not compared: two lines do not agree: MemTotal, KiB: ") for line in lines
    )
    with pytest.raises(Problem, match="the outputs are of several nodes:\nGPU0: UUID: "):
        compared(MIXED, "l40s-01.mixed.example.com", readings(log, log.replace("GPU-", "GPU-0")))


@pytest.mark.parametrize("name", ["inference", "former"])
def test_a_node_of_its_pool_is_not_swapped(name: str) -> None:
    """A node that prints what its pool's machine prints has no difference."""
    node = next(node.name for node in MIXED.gpu_nodes if node.pool == name)
    assert compared(MIXED, node, readings(job_log(MACHINES[name]))).differences == []


@pytest.fixture
def api(tmp_path: Path) -> Iterator[JobApi]:
    """Serve a DGX H100 whose Job has ended."""
    node = manifest(NODE, NODES[0], labels=labels(H100), status={"allocatable": {"nvidia.com/gpu": "8"}})
    with served(tmp_path, node) as found:
        found.pod, found.log = pod("Succeeded"), job_log(H100)
        yield found


def _options(api: JobApi, *more: str) -> list[str]:
    return ["--kubeconfig", str(api.cluster.kubeconfig), "--node", NODES[0], *IMAGE, *more]


def test_a_node_becomes_a_machine_file(api: JobApi, tmp_path: Path) -> None:
    """The file has the node's rails, the log can be stored, and the Job had all GPUs."""
    file, log = tmp_path / "ours.yaml", tmp_path / "node.log"
    status, output = _discover(*_options(api, "-o", str(file), "--log", str(log)))
    assert (status, "to complete: model: " in output, "not seen" in output) == (0, True, False), output
    fields = read(file)
    assert [hca["name"] for hca in fields["hcas"]] == [hca.name for hca in H100.hcas]
    assert fields["to_complete"] == ["model"]
    assert log.read_text() == api.log
    assert api.job is not None
    (container,) = api.job["spec"]["template"]["spec"]["containers"]
    assert container["resources"]["limits"]["nvidia.com/gpu"] == "8"
    with pytest.raises(Problem, match="exists, and may have been completed"):
        _discover(*_options(api, "-o", str(file)))


def test_what_the_pod_does_not_see_is_reported(api: JobApi, tmp_path: Path) -> None:
    """Each command that fails is reported with its reason, and the file lacks its fields."""
    api.log = job_log(H100, gpus=0, host_network=False)
    status, output = _discover(*_options(api, "--gpus", "0", "-o", str(tmp_path / "ours.yaml")))
    assert status == 0
    assert "not seen: nvidia-smi -q: fails (nvidia-smi: command not found): needs the node's GPUs" in output
    assert "not seen: ibdev2netdev: prints nothing: interfaces are in the node's network namespace" in output
    assert has(output, "to complete", "hcas", "nvidia-smi topo -m")


def test_the_manifest_alone_creates_nothing(api: JobApi, tmp_path: Path) -> None:
    """The manifest is printed as YAML, and from-logs reads the log of what a user creates from it."""
    status, output = _discover(*_options(api, "--manifest"))
    assert (status, api.sent) == (0, [])
    job = yaml.safe_load(output)
    assert (job["kind"], job["metadata"]["namespace"]) == ("Job", "default")
    log = tmp_path / "node.log"
    log.write_text(api.log)
    status, output = finished(from_logs, str(log))
    assert (status, "mlx5_11" in output) == (0, True)


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"node": "gpu99"}, r"no node gpu99\nIts nodes: dgx01\.h100"),
        ({"gpus": "4"}, r"--gpus 4: node dgx01\S+ offers 8[^\n]*\nOmit --gpus, or give 0"),
        ({"image": None}, r"no image to run\nName one with --image"),
        ({"output": None}, r"no file to write\nName it: -o"),
        ({"stack": STACK}, r"which cluster is meant is not clear\nGive either --stack, or --kubeconfig"),
        ({"kubeconfig": None}, r"which cluster is meant is not clear"),
        ({"kubeconfig": "gone"}, r"there is no kubeconfig \S*gone\nCorrect --kubeconfig"),
    ],
)
def test_wrong_options_are_refused(api: JobApi, tmp_path: Path, change: dict[str, Any], error: str) -> None:
    """A wrong option is refused with its value and the remedy, and without a Job."""
    options = {"kubeconfig": str(api.cluster.kubeconfig), "node": NODES[0], "image": IMAGE[1]}
    options |= {"output": str(tmp_path / "ours.yaml")} | change
    words = [word for option, value in options.items() if value is not None for word in (f"--{option}", value)]
    with pytest.raises(Problem, match=error):
        _discover(*words)
    assert api.sent == []


def test_a_kubeconfig_with_several_contexts_needs_one(api: JobApi, tmp_path: Path) -> None:
    """With several contexts one must be named; the current one is not used."""
    content = yaml.safe_load(api.cluster.kubeconfig.read_text())
    content["contexts"].append({"name": "other", "context": {"cluster": "lab", "user": "lab"}})
    api.cluster.kubeconfig.write_text(yaml.safe_dump(content))
    with pytest.raises(Problem, match=r"has 2 contexts\nName one with --context: lab, other"):
        _discover(*_options(api, "-o", str(tmp_path / "ours.yaml")))
    assert _discover(*_options(api, "--context", "lab", "-o", str(tmp_path / "ours.yaml")))[0] == 0


def test_nodes_that_are_as_their_file_pass(api: JobApi, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nodes that match their file give status 0 and one line; the stack's fabric decides the ports' link layer."""
    api.log = job_log(check.expected(stacks.read(STACK).settings, NODES[0]))
    monkeypatch.setattr(session, "cluster", lambda _: api.cluster)
    status, output = _check("--stack", STACK, "--node", NODES[0])
    assert (status, output.splitlines()[-1]) == (0, "1 node: 0 with differences, 0 not compared in full"), output


def test_a_node_that_cannot_be_read_is_undecided(api: JobApi, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of several nodes the others are compared, and the exit status says that not all were."""
    api.log = job_log(check.expected(stacks.read(STACK).settings, NODES[0]))
    monkeypatch.setattr(session, "cluster", lambda _: api.cluster)
    status, output = _check("--stack", STACK)
    assert (status, output.splitlines()[-1]) == (2, "4 nodes: 0 with differences, 3 not compared in full")
    assert f"{NODES[1]}: not compared: the cluster of context 'lab' has no node {NODES[1]}" in output


def test_differences_in_files_are_lines_of_the_node(tmp_path: Path) -> None:
    """Differences give exit status 1; with files no cluster is queried."""
    file = tmp_path / "node.log"
    file.write_text(job_log(H100))
    status, output = _check("--stack", STACK, "--node", NODES[1], "-f", str(file))
    assert status == 1
    lines = [line for line in output.splitlines() if "link layer: expected Ethernet, found InfiniBand" in line]
    assert len(lines) == len(H100.hcas)
    assert all(line.startswith(f"{NODES[1]}: mlx5_") for line in lines)


def test_outputs_that_are_missing_are_named(tmp_path: Path) -> None:
    """Exit status 2 means that nothing differs, and that not everything was compared."""
    file = tmp_path / "node.log"
    file.write_text(job_log(H100).partition("$ lscpu")[2].partition("$ numactl")[0])
    status, output = _check("--stack", STACK, "-f", str(file))
    assert (status, "the node of the files: memory: not compared: no /proc/meminfo" in output) == (2, True)


def test_check_refuses_nodes_without_a_machine(tmp_path: Path) -> None:
    """A node that the stack does not have, and several nodes for the files of one."""
    with pytest.raises(Problem, match=r"--node gpu99: not a node with GPUs of stack h100-roce\nIts nodes: dgx01"):
        _check("--stack", STACK, "--node", "gpu99")
    with pytest.raises(Problem, match=r"--node names several\nName one"):
        _check("--stack", STACK, "--node", NODES[0], "--node", NODES[1], "-f", str(tmp_path / "x"))


def test_nothing_compared_has_a_status_of_its_own() -> None:
    """Wrong options have a status of their own, as no node was compared."""
    done = CliRunner().invoke(app, ["hardware", "check", "--stack", STACK, "--node", "gpu99"])
    assert done.exit_code == UNJUDGED
