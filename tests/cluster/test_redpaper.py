"""The Redpaper's lab from an empty folder to its finished jobs, and what a user does with it afterwards."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from core.apis import kinds
from core.data_files import read
from tests.support.lab import Lab, eventually
from tests.support.machines import DGX1_V100_16GB
from toolkit.simulator import pods

pytestmark = pytest.mark.cluster

JOBS = {
    "nccl-test-01x08",
    "nccl-test-02x08",
    "nccl-test-16x01",
    "tf2-resnet50-01x08x01",
    "tf2-resnet50-02x08x02",
    "tf2-a2d2-08x01x01-gpu",
    "tf2-a2d2-16x01x02-gpu",
}
CSI = "ibm-spectrum-scale-csi-driver/ibm-spectrum-scale-csi"
SCCS = {
    "adas/mofed-test-job-": "scc-for-mpi",
    "adas/nv-nccl-dgx01-": "restricted",
    "adas/nv-nccl-dgx02-": "restricted",
    **{f"adas/{job}-launcher-": "restricted" for job in JOBS},
    f"{CSI}-": "spectrum-scale-csiaccess",
    f"{CSI}-operator-": "restricted",
    "kube-system/rdma-shared-dp-ds-": None,
    "mpi-operator/mpi-operator-": "restricted",
    "nvidia-gpu/nvidia-gpu-": "privileged",
    "openshift-infra/node-agents-": None,
    "openshift-nfd/nfd-master-": "restricted",
    "openshift-nfd/nfd-operator-": "restricted",
    "openshift-nfd/nfd-worker-": "privileged",
    "openshift-sro/special-resource-operator-": "restricted",
}
"""Beginning of a pod's name -> the SCC that it runs under; in kube-system and openshift-infra there is no admission."""


def allocatable(lab: Lab) -> dict[str, dict[str, str]]:
    """Return the GPUs and RDMA devices of every node that has any."""
    nodes = lab.api.list(kinds.NODE)["items"]
    devices = {
        node["metadata"]["name"]: {
            key: value
            for key, value in node["status"]["allocatable"].items()
            if key == "nvidia.com/gpu" or key.startswith("rdma/")
        }
        for node in nodes
    }
    return {name: found for name, found in devices.items() if found}


def test_all_jobs_have_succeeded(lab: Lab) -> None:
    """After the update every MPI job of the paper has succeeded."""
    jobs = lab.api.list(kinds.MPI_JOB_V1ALPHA2, "adas")["items"]
    ended = {
        job["metadata"]["name"]: [found["type"] for found in job["status"]["conditions"] if found["status"] == "True"]
        for job in jobs
    }
    assert ended.keys() == JOBS
    assert all("Succeeded" in conditions for conditions in ended.values()), ended


def test_the_jobs_prove_what_the_redpapers_did(lab: Lab) -> None:
    """The jobs pass with their figures; verdicts and report say that they are simulated."""
    printed = lab.works("verify", "--all")
    assert printed.splitlines()[-2].startswith("passed: ")
    assert "scaling" in printed
    found = json.loads(lab.works("verify", "--json"))
    assert found["simulated"]
    assert {verdict["status"] for verdict in found["verdicts"]} == {"pass", "warn"}
    assert [one["criterion"] for one in found["verdicts"] if one["status"] == "warn"] == ["single-gpu-pods"]
    judged = {one["job"].partition("/")[2] for one in found["jobs"]}
    assert judged >= {*JOBS, "mofed-test-job", "nv-nccl-dgx01", "nv-nccl-dgx02"}
    lab.works("report", "-o", "report")
    assert "Simulated" in (lab.root / "report" / "report.md").read_text()
    assert "<svg" in (lab.root / "report" / "report.html").read_text()


def test_nodes_offer_what_the_redpaper_lists(lab: Lab) -> None:
    """Each DGX-1 offers eight GPUs and a hundred of each of four HCAs."""
    expected = {"nvidia.com/gpu": "8", **{f"rdma/shared_ib{port}": "100" for port in range(4)}}
    machines = {f"dgx0{number}.ocp4.scale.ibm.com": expected for number in (1, 2)}
    assert allocatable(lab) == machines
    # Without any help of node feature discovery, which at this release finds GPUs and no ports in InfiniBand mode.
    for name in machines:
        found = pods.labels(lab.api.get(kinds.NODE, name))
        assert {label for label in found if "/pci-" in label} == {"feature.node.kubernetes.io/pci-10de.present"}


def test_a_node_gives_its_machine_back(lab: Lab, tmp_path: Path) -> None:
    """A Job on a node prints its tools' output and is removed; the file has the rails and matches the node's own."""
    node = ("--stack", "dev", "--node", "dgx01.ocp4.scale.ibm.com")
    file = tmp_path / "ours.yaml"
    lab.works("hardware", "discover", *node, "--host-network", "-o", str(file))
    made = read(file)
    assert made["to_complete"] == ["model"]
    assert [(hca["name"], hca["netdev"], tuple(hca["gpus"])) for hca in made["hcas"]] == [
        (hca.name, hca.netdev, hca.gpus) for hca in DGX1_V100_16GB.hcas
    ]
    assert "1 node: 0 with differences, 0 not compared in full" in lab.works("hardware", "check", *node)
    assert lab.api.list(kinds.JOB, "default")["items"] == []


def test_jobs_ran_one_after_another(lab: Lab) -> None:
    """Each job starts after the one before has finished: without gang scheduling two could block each other."""
    times = sorted(
        (job["status"]["startTime"], job["status"]["completionTime"], job["metadata"]["name"])
        for job in lab.api.list(kinds.MPI_JOB_V1ALPHA2, "adas")["items"]
    )
    for (_, end, name), (start, _, following) in pairwise(times):
        assert end <= start, f"{following} started before {name} had ended"


def test_single_gpu_pods_were_spread_over_both_nodes(lab: Lab) -> None:
    """Sixteen pods of one GPU each are scheduled on both nodes, eight on each."""
    events = lab.api.list(kinds.Kind("", "v1", "Event", "events"), "adas")["items"]
    placed = [
        event["message"].split()[-1]
        for event in events
        if event.get("reason") == "Scheduled" and "nccl-test-16x01-worker" in event["involvedObject"]["name"]
    ]
    assert {node: placed.count(node) for node in placed} == {
        "dgx01.ocp4.scale.ibm.com": 8,
        "dgx02.ocp4.scale.ibm.com": 8,
    }


def scc(pod: dict[str, Any]) -> str | None:
    """Return the SCC that a pod runs under."""
    found: str | None = pod["metadata"].get("annotations", {}).get("openshift.io/scc")
    return found


def test_pods_run_under_the_sccs_that_they_need(lab: Lab) -> None:
    """Every pod, the operators' too, is admitted by exactly the SCC that it needs."""
    met = set()
    for pod in lab.api.list(kinds.POD)["items"]:
        name = f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"
        expected = max((start for start in SCCS if name.startswith(start)), key=len, default="nothing expected")
        assert scc(pod) == SCCS[expected], name
        met.add(expected)
    assert met == SCCS.keys()


def test_workers_run_under_the_scc_for_mpi(lab: Lab) -> None:
    """Workers are admitted by scc-for-mpi, which allows them to lock memory."""
    with lab.job() as job:
        eventually(lambda: len(job.workers) == 2, "the job has no workers")
        assert [scc(worker) for worker in job.workers] == ["scc-for-mpi"] * 2
        job.succeeds()


def test_nothing_is_left_to_do(lab: Lab) -> None:
    """A preview after the update shows no change."""
    lab.works("pulumi", "preview", "--stack", "dev", "--expect-no-changes", "--non-interactive")


def test_secrets_are_not_in_the_state(lab: Lab) -> None:
    """The state has no GUI password in plain text."""
    for file in (lab.root / ".sim" / "default" / "pulumi").rglob("*.json"):
        assert "invented" not in file.read_text(), file


def test_state_files_stand_alone(lab: Lab) -> None:
    """The state of a stack is one file with its backup, so that a kill leaves no half of it ("checkpoint: EOF")."""
    files = {file.name for file in (lab.root / ".sim" / "default" / "pulumi" / ".pulumi" / "stacks" / "hpc").iterdir()}
    assert files == {"dev.json", "dev.json.bak", "dev.pulumi-tags"}


def test_launcher_log_says_that_it_is_simulated(lab: Lab) -> None:
    """The first line of a launcher's log says that it is simulated."""
    logs = [
        file.read_text()
        for file in (lab.root / ".sim" / "default" / "pods").rglob("*")
        if file.is_file() and "nccl-test-02x08-launcher" in str(file)
    ]
    assert logs
    assert all("simulated" in log.splitlines()[0] for log in logs)
