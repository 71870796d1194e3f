"""Reviews of a stack that is up: what drifted and is repaired, and plans that hold an update, with the real engine."""

import base64
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from apis import kinds
from tests.support.lab import SETTINGS, Lab

pytestmark = pytest.mark.cluster

PLANTED = "cGxhbnRlZC1hbmQtcGxhaW4="  # planted-and-plain
VISION = {"namespace": "vision", "uid_range": {"start": 1075990000}, "mcs": "s0:c31,c2", "gpu_quota": 4, "data": None}


def drift(lab: Lab, status: int) -> tuple[str, dict[str, Any]]:
    """Look for drift; return what is said, and the same as data."""
    file = lab.root / "drift.json"
    done = lab.hpc("drift", "--json", str(file))
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout, json.loads(file.read_text())


def exported(lab: Lab) -> Any:
    """Return the state's resources."""
    return json.loads(lab.works("pulumi", "--stack", "dev", "--", "stack", "export", "--stack", "dev"))["deployment"]


def secrets(lab: Lab) -> list[str]:
    """Return what is in the Secrets of the stack, encoded and plain."""
    scale = "ibm-spectrum-scale-csi-driver"
    found = lab.api.get(kinds.SECRET, "csisecret-local", scale)["data"].values()
    return [*found, *(base64.b64decode(each).decode() for each in found)]


@contextmanager
def settings(lab: Lab, *edits: Callable[[dict[str, Any]], None]) -> Iterator[None]:
    """Change the settings of stack dev for a while."""
    file = lab.root / SETTINGS
    kept = file.read_bytes()
    try:
        for edit in edits:
            lab.change(edit)
        yield
    finally:
        file.write_bytes(kept)


@contextmanager
def back(lab: Lab) -> Iterator[None]:
    """Bring the stack to its own settings at the end, whatever happens."""
    try:
        yield
    finally:
        lab.works("up")


def add_tenant(platform: dict[str, Any]) -> None:
    """Add a tenant."""
    platform["tenants"].append({**platform["tenants"][0], **VISION, "run_as_uid": 1075991000, "run_as_gid": 1075991000})


def run_again(platform: dict[str, Any]) -> None:
    """Run a Job and an MPIJob once more."""
    for stage in (platform["stages"][0], platform["stages"][2]):
        stage["workloads"][0]["run"] = 2


def quota(number: int) -> Callable[[dict[str, Any]], None]:
    """Return what gives the first tenant a quota of GPUs."""
    return lambda platform: platform["tenants"][0].update(gpu_quota=number)


def test_drift_is_told_and_repaired(lab: Lab) -> None:
    """Prevents rights that somebody gains by hand and keeps, and an alarm every night where nothing drifted."""
    before = exported(lab)
    said, found = drift(lab, 0)
    assert (found["changes"], found["failed"]) == ([], "")

    api = lab.api
    constraints = kinds.SECURITY_CONTEXT_CONSTRAINTS
    api.patch(constraints, "scc-for-mpi", {"allowedCapabilities": ["IPC_LOCK", "SYS_ADMIN"]})
    intruder = {"kind": "ServiceAccount", "name": "intruder", "namespace": "adas"}
    subjects = [*api.get(kinds.ROLE_BINDING, "mpi", "adas")["subjects"], intruder]
    api.patch(kinds.ROLE_BINDING, "mpi", {"subjects": subjects}, "adas")
    api.patch(kinds.RESOURCE_QUOTA, "gpus", {"spec": {"hard": {"requests.nvidia.com/gpu": "64"}}}, "adas")
    api.patch(kinds.NAMESPACE, "adas", {"metadata": {"labels": {"app.kubernetes.io/part-of": None}}})
    api.patch(kinds.CONFIG_MAP, "rdma-devices", {"data": {"config.json": "{}"}}, "kube-system")
    scale = "ibm-spectrum-scale-csi-driver"
    api.patch(kinds.SECRET, "csisecret-local", {"data": {"password": PLANTED}}, scale)
    api.patch(kinds.CONFIG_MAP, "rdma-devices", {"metadata": {"labels": {"somebody": "else"}}}, "kube-system")
    api.delete(kinds.SERVICE_ACCOUNT, "mpi", "adas")

    said, found = drift(lab, 1)
    assert {(each["op"], each["kind"]) for each in found["changes"]} == {
        ("update", "SecurityContextConstraints"),
        ("update", "RoleBinding"),
        ("update", "ResourceQuota"),
        ("update", "Namespace"),
        ("update", "ConfigMap"),
        ("update", "Secret"),
        ("delete", "ServiceAccount"),
    }
    for words in (
        "SYS_ADMIN",
        "intruder",
        "64",
        "app.kubernetes.io/part-of",
        "another secret",
        "`./hpc up --stack dev`",
    ):
        assert words in said
    for planted in (PLANTED, "planted-and-plain"):
        assert planted not in said + json.dumps(found)
    assert exported(lab) == before, "looking for drift has changed the state"

    lab.works("up")
    assert drift(lab, 0)[1]["changes"] == []
    assert api.get(kinds.ROLE_BINDING, "mpi", "adas")["subjects"] == subjects[:-1]
    assert api.get(constraints, "scc-for-mpi")["allowedCapabilities"] == ["IPC_LOCK"]
    assert api.find(kinds.SERVICE_ACCOUNT, "mpi", "adas") is not None


def test_what_others_added_and_what_ended(lab: Lab) -> None:
    """Prevents keys of others that survive every repair, and a job that runs again because somebody tidied up.

    And a reviewer who is not told what the update does beside.
    """
    api = lab.api
    with back(lab):
        api.patch(kinds.CONFIG_MAP, "rdma-devices", {"data": {"more": "x"}}, "kube-system")
        api.patch(kinds.RESOURCE_QUOTA, "gpus", {"spec": {"hard": {"pods": "999"}}}, "adas")
        lab.take(kinds.MPI_JOB_V1ALPHA2, "nccl-test-02x08", "adas")
        said, found = drift(lab, 1)
        assert {each["kind"] for each in found["changes"]} == {"ConfigMap", "ResourceQuota"}
        assert "MPIJob adas/nccl-test-02x08 has ended" in said
        said = lab.works("diff")
        assert "ConfigMap kube-system/rdma-devices is not as declared, and is changed back" in said

        lab.works("up")
        assert "more" not in api.get(kinds.CONFIG_MAP, "rdma-devices", "kube-system")["data"]
        assert "pods" not in api.get(kinds.RESOURCE_QUOTA, "gpus", "adas")["spec"]["hard"]
        assert api.find(kinds.MPI_JOB_V1ALPHA2, "nccl-test-02x08", "adas") is None
        assert drift(lab, 0)[1]["changes"] == []


def test_what_cannot_be_repaired_does_not_stop_the_stack(lab: Lab) -> None:
    """Prevents an object made anew by hand with what cannot change from ending every later `up`, and every preview."""
    api = lab.api
    made = lab.take(kinds.ROLE_BINDING, "mpi", "adas")
    with back(lab):
        lab.put(kinds.ROLE_BINDING, {**made, "roleRef": {**made["roleRef"], "kind": "ClusterRole", "name": "view"}})
        done = lab.hpc("up")
        assert done.returncode == 0, done.stdout + done.stderr
        assert "cannot change roleRef" in done.stderr
        assert "Delete it" in done.stderr
        assert not [each["urn"] for each in exported(lab)["resources"] if each.get("initErrors")]
        lab.works("preview")
        lab.works("up", "--no-repair")
        drift(lab, 1)

        lab.take(kinds.ROLE_BINDING, "mpi", "adas")
        lab.works("up")
        assert api.get(kinds.ROLE_BINDING, "mpi", "adas")["roleRef"] == made["roleRef"]
        drift(lab, 0)


def test_a_violated_policy_is_in_the_comment(lab: Lab, tmp_path: Path) -> None:
    """Prevents a refused change whose reviewer is not told why, and one that a pipeline takes for a good one."""
    file = tmp_path / "comment.md"
    with settings(lab, lambda platform: platform["stages"][1]["workloads"][0].update(image="somewhere/else:latest")):
        configured = tmp_path / "levels.json"
        configured.write_text(json.dumps({"image-pinned": "mandatory"}))
        lab.fails("diff", "-o", str(file), "--config", str(configured))
    assert "image-pinned" in file.read_text()


def test_an_update_is_held_to_its_plan(lab: Lab, tmp_path: Path) -> None:
    """Prevents an update that does what nobody has reviewed: other settings, another state, another cluster.

    And a comment that is another one at each run although the change is the same.
    """
    plan, comments = tmp_path / "plan.json", [tmp_path / "1.md", tmp_path / "2.md"]
    with back(lab), settings(lab, add_tenant, run_again):
        lab.works("diff", "--plan", str(plan), "-o", str(comments[0]))
        lab.works("diff", "-o", str(comments[1]))
        assert comments[0].read_bytes() == comments[1].read_bytes()
        assert b"vision" in comments[0].read_bytes()
        assert plan.stat().st_mode & 0o077 == 0
        for secret in secrets(lab):
            assert secret not in plan.read_text()

        with settings(lab, quota(24)):
            assert "the settings of the stack have changed" in lab.fails("up", "--plan", str(plan))

        hard = {"spec": {"hard": {"requests.nvidia.com/gpu": "64"}}}
        kept = lab.api.get(kinds.RESOURCE_QUOTA, "gpus", "adas")["spec"]
        lab.api.patch(kinds.RESOURCE_QUOTA, "gpus", hard, "adas")
        assert "what the cluster holds is not what it was" in lab.fails("up", "--plan", str(plan))
        lab.api.patch(kinds.RESOURCE_QUOTA, "gpus", {"spec": kept}, "adas")

        # A program that changed meanwhile, with the same settings, is the engine's to see.
        content = json.loads(plan.read_text())
        (urn,) = (urn for urn in content["resourcePlans"] if urn.endswith("::vision-quota"))
        content["resourcePlans"][urn]["steps"] = ["same"]
        other = tmp_path / "other.json"
        other.write_text(json.dumps(content))
        assert "It would do what its plan does not say" in lab.fails("up", "--plan", str(other))

        done = lab.works("up", "--plan", str(plan))
        assert "replaced" in done  # of them an MPIJob, which waits for patches of its operator
        assert "another update has changed the state" in lab.fails("up", "--plan", str(plan))
        assert lab.api.find(kinds.NAMESPACE, "vision") is not None
