"""Reviews of a stack that is up: drift and its repair, and plans that an update must follow, with the real engine."""

import base64
import json
import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from apis import kinds
from apis.kinds import Kind
from tests.cluster.kit import add_tenant, run_again, settings
from tests.engine.kit import Cluster
from tests.support.lab import Lab

pytestmark = pytest.mark.cluster

PLANTED = "cGxhbnRlZC1hbmQtcGxhaW4="  # planted-and-plain


def drift(lab: Lab, status: int) -> tuple[str, dict[str, Any]]:
    """Look for drift; return the output as text and as data."""
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
def back(lab: Lab) -> Iterator[None]:
    """Bring the stack to its own settings at the end, whatever happens."""
    try:
        yield
    finally:
        lab.works("up", "--repair")


def remove(lab: Lab, said: str) -> int:
    """Run the commands of a review, as kubectl does; return how many there are."""
    cluster = Cluster(lab.kubeconfig, "hpc-sim-default")
    commands = [shlex.split(line) for line in said.splitlines() if line.lstrip().startswith("kubectl ")]
    for words in commands:
        option = {key: value for key, value in pairwise(words) if key.startswith("-")}
        assert (lab.root / option["--kubeconfig"], option["--context"]) == (lab.kubeconfig, cluster.context)
        kind, name = words[words.index("patch") + 1 :][:2]
        where = _kind(kind).path(option.get("-n"), name)
        cluster.request("PATCH", where, json.loads(option["-p"]), kind="application/json-patch+json")
    return len(commands)


def _kind(text: str) -> Kind:
    """Return the kind that kubectl takes `kind.version.group` for."""
    name, _, rest = text.partition(".")
    version, _, group = rest.partition(".")
    return next(
        each
        for each in kinds.KINDS
        if each.kind.lower() == name and (each.group, each.version) == (group, version or each.version)
    )


def quota(number: int) -> Callable[[dict[str, Any]], None]:
    """Return what gives the last tenant a quota of GPUs."""
    return lambda platform: platform["tenants"][-1].update(gpu_quota=number)


def test_drift_is_reported_and_repaired(lab: Lab) -> None:
    """Drift of rights, quotas and secrets is reported and repaired; where nothing drifted, nothing is reported."""
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
        "`./hpc up --stack dev --repair`",
    ):
        assert words in said
    for planted in (PLANTED, "planted-and-plain"):
        assert planted not in said + json.dumps(found)
    assert exported(lab) == before, "looking for drift has changed the state"

    assert lab.works("up").endswith("stack dev is up; objects on the cluster: 53 unchanged\n")
    assert api.find(kinds.SERVICE_ACCOUNT, "mpi", "adas") is None, "an update without --repair recreated it"
    assert "repair: ServiceAccount adas/mpi is gone" in lab.works("preview", "--repair")
    repaired = lab.works("up", "--repair")
    assert "not repaired: RoleBinding adas/mpi: others added subjects[1]" in repaired
    assert "not repaired: SecurityContextConstraints scc-for-mpi: others added allowedCapabilities[1]" in repaired
    assert api.find(kinds.SERVICE_ACCOUNT, "mpi", "adas") is not None
    said, found = drift(lab, 1)
    assert {each["kind"] for each in found["changes"]} == {"RoleBinding", "SecurityContextConstraints"}
    assert remove(lab, said) == 2
    assert drift(lab, 0)[1]["changes"] == []
    assert api.get(kinds.ROLE_BINDING, "mpi", "adas")["subjects"] == subjects[:-1]
    assert api.get(constraints, "scc-for-mpi")["allowedCapabilities"] == ["IPC_LOCK"]
    assert not [each["urn"] for each in exported(lab)["resources"] if each.get("initErrors")]


def test_what_others_added_and_what_ended(lab: Lab) -> None:
    """A repair leaves keys that others added and jobs that were deleted after they finished, and names both.

    The review of a change names the drift that the update leaves.
    """
    api = lab.api
    api.patch(kinds.CONFIG_MAP, "rdma-devices", {"data": {"more": "it's"}}, "kube-system")
    api.patch(kinds.RESOURCE_QUOTA, "gpus", {"spec": {"hard": {"pods": "999"}}}, "adas")
    lab.take(kinds.MPI_JOB_V1ALPHA2, "nccl-test-02x08", "adas")
    said, found = drift(lab, 1)
    assert {each["kind"] for each in found["changes"]} == {"ConfigMap", "ResourceQuota"}
    assert "MPIJob adas/nccl-test-02x08 has finished" in said
    printed = lab.works("diff")
    assert "ConfigMap kube-system/rdma-devices differs from what is declared" in printed
    assert "The update leaves this" in printed

    lab.works("up", "--repair")
    assert api.get(kinds.CONFIG_MAP, "rdma-devices", "kube-system")["data"]["more"] == "it's"
    assert api.find(kinds.MPI_JOB_V1ALPHA2, "nccl-test-02x08", "adas") is None
    assert remove(lab, said) == 2
    assert "more" not in api.get(kinds.CONFIG_MAP, "rdma-devices", "kube-system")["data"]
    assert "pods" not in api.get(kinds.RESOURCE_QUOTA, "gpus", "adas")["spec"]["hard"]
    assert drift(lab, 0)[1]["changes"] == []


def test_what_would_be_replaced_is_the_users_to_decide(lab: Lab) -> None:
    """A repair replaces only what the user names with `--replace`; other drift does not stop later updates."""
    api = lab.api
    job = api.get(kinds.MPI_JOB_V1ALPHA2, "nccl-test-01x08", "adas")
    made = lab.take(kinds.ROLE_BINDING, "mpi", "adas")
    with back(lab):
        lab.put(kinds.ROLE_BINDING, {**made, "roleRef": {**made["roleRef"], "kind": "ClusterRole", "name": "view"}})
        api.patch(kinds.MPI_JOB_V1ALPHA2, "nccl-test-01x08", {"spec": {"slotsPerWorker": 7}}, "adas")
        done = lab.works("up", "--repair")
        assert "not repaired: RoleBinding adas/mpi: the API server refuses" in done
        assert "cannot change roleRef" in done
        assert "not repaired: MPIJob adas/nccl-test-01x08: it would be replaced" in done
        lab.works("preview")
        lab.works("up")
        drift(lab, 1)
        assert "names what has not drifted: Role/adas/mpi" in lab.fails("up", "--repair", "--replace", "Role/adas/mpi")

        lab.works("up", "--repair", "--replace", "RoleBinding/adas/mpi")
        assert api.get(kinds.ROLE_BINDING, "mpi", "adas")["roleRef"] == made["roleRef"]
        api.patch(kinds.MPI_JOB_V1ALPHA2, "nccl-test-01x08", {"spec": job["spec"]}, "adas")
        assert api.get(kinds.MPI_JOB_V1ALPHA2, "nccl-test-01x08", "adas")["metadata"]["uid"] == job["metadata"]["uid"]
        drift(lab, 0)


def test_a_violated_policy_is_in_the_comment(lab: Lab, tmp_path: Path) -> None:
    """A mandatory finding is in the comment, and `./hpc diff` fails."""
    file = tmp_path / "comment.md"
    with settings(lab, lambda platform: platform["stages"][1]["workloads"][0].update(image="somewhere/else:latest")):
        configured = tmp_path / "levels.json"
        configured.write_text(json.dumps({"image-pinned": "mandatory"}))
        lab.fails("diff", "-o", str(file), "--config", str(configured))
    assert "image-pinned" in file.read_text()


def test_an_update_is_held_to_its_plan(lab: Lab, tmp_path: Path) -> None:
    """An update with a plan is refused when settings, state or cluster have changed since the plan was made.

    The comment of the same change is the same at each run.
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

        assert "--plan and --repair" in lab.fails("up", "--repair", "--plan", str(plan))
        with settings(lab, quota(12)):
            assert "the settings of the stack have changed" in lab.fails("up", "--plan", str(plan))

        hard = {"spec": {"hard": {"requests.nvidia.com/gpu": "64"}}}
        kept = lab.api.get(kinds.RESOURCE_QUOTA, "gpus", "adas")["spec"]
        lab.api.patch(kinds.RESOURCE_QUOTA, "gpus", hard, "adas")
        assert "the cluster has changed" in lab.fails("up", "--plan", str(plan))
        lab.api.patch(kinds.RESOURCE_QUOTA, "gpus", {"spec": kept}, "adas")

        # A program that changed meanwhile, with the same settings, is the engine's to see.
        content = json.loads(plan.read_text())
        (urn,) = (urn for urn in content["resourcePlans"] if urn.endswith("::vision-quota"))
        content["resourcePlans"][urn]["steps"] = ["same"]
        other = tmp_path / "other.json"
        other.write_text(json.dumps(content))
        assert "The update differs from its plan" in lab.fails("up", "--plan", str(other))

        done = lab.works("up", "--plan", str(plan))
        assert "replaced" in done  # of them an MPIJob, which waits for patches of its operator
        assert "another update has changed the state" in lab.fails("up", "--plan", str(plan))
        assert lab.api.find(kinds.NAMESPACE, "vision") is not None
