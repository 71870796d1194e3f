"""Reviews of a stack that is up: drift and its repair, and plans that an update must follow, with the real engine."""

import base64
import json
import shlex
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from core.apis import kinds
from core.apis.kinds import Kind
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


def test_drift_is_reported_and_repaired(lab: Lab) -> None:
    """Drift of rights and secrets is reported and repaired; where nothing drifted, nothing is reported.

    A repair leaves what others added, and jobs that were deleted after they finished, and names both.
    """
    before = exported(lab)
    api = lab.api
    constraints = kinds.SECURITY_CONTEXT_CONSTRAINTS
    api.patch(constraints, "scc-for-mpi", {"allowedCapabilities": ["IPC_LOCK", "SYS_ADMIN"]})
    intruder = {"kind": "ServiceAccount", "name": "intruder", "namespace": "adas"}
    subjects = [*api.get(kinds.ROLE_BINDING, "mpi", "adas")["subjects"], intruder]
    api.patch(kinds.ROLE_BINDING, "mpi", {"subjects": subjects}, "adas")
    api.patch(kinds.RESOURCE_QUOTA, "gpus", {"spec": {"hard": {"pods": "999"}}}, "adas")
    api.patch(kinds.NAMESPACE, "adas", {"metadata": {"labels": {"app.kubernetes.io/part-of": None}}})
    api.patch(kinds.CONFIG_MAP, "rdma-devices", {"data": {"config.json": "{}"}}, "kube-system")
    scale = "ibm-spectrum-scale-csi-driver"
    api.patch(kinds.SECRET, "csisecret-local", {"data": {"password": PLANTED}}, scale)
    api.patch(kinds.CONFIG_MAP, "rdma-devices", {"metadata": {"labels": {"somebody": "else"}}}, "kube-system")
    api.delete(kinds.SERVICE_ACCOUNT, "mpi", "adas")
    lab.take(kinds.MPI_JOB_V1ALPHA2, "nccl-test-02x08", "adas")

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
        "999",
        "app.kubernetes.io/part-of",
        "another secret",
        "MPIJob adas/nccl-test-02x08 has finished",
        "`./hpc up --stack dev --repair`",
    ):
        assert words in said
    for planted in (PLANTED, "planted-and-plain"):
        assert planted not in said + json.dumps(found)
    assert exported(lab) == before, "looking for drift has changed the state"

    repaired = lab.works("up", "--repair")
    assert "repair: ServiceAccount adas/mpi is gone" in repaired
    assert "not repaired: ResourceQuota adas/gpus: others added spec.hard.pods" in repaired
    assert "not repaired: RoleBinding adas/mpi: others added subjects[1]" in repaired
    assert "not repaired: SecurityContextConstraints scc-for-mpi: others added allowedCapabilities[1]" in repaired
    assert api.find(kinds.SERVICE_ACCOUNT, "mpi", "adas") is not None
    assert api.find(kinds.MPI_JOB_V1ALPHA2, "nccl-test-02x08", "adas") is None
    assert api.get(kinds.RESOURCE_QUOTA, "gpus", "adas")["spec"]["hard"]["pods"] == "999"
    assert remove(lab, repaired.replace("remove it: ", "")) == 3
    said, found = drift(lab, 0)
    assert (found["changes"], found["failed"]) == ([], "")
    assert api.get(kinds.ROLE_BINDING, "mpi", "adas")["subjects"] == subjects[:-1]
    assert "pods" not in api.get(kinds.RESOURCE_QUOTA, "gpus", "adas")["spec"]["hard"]
    assert api.get(constraints, "scc-for-mpi")["allowedCapabilities"] == ["IPC_LOCK"]
    assert not [each["urn"] for each in exported(lab)["resources"] if each.get("initErrors")]


def test_what_would_be_replaced_is_the_users_to_decide(lab: Lab) -> None:
    """A repair replaces only what the user names with `--replace`; other drift does not stop later updates."""
    api = lab.api
    job = api.get(kinds.MPI_JOB_V1ALPHA2, "nccl-test-01x08", "adas")
    made = lab.take(kinds.ROLE_BINDING, "mpi", "adas")
    lab.put(kinds.ROLE_BINDING, {**made, "roleRef": {**made["roleRef"], "kind": "ClusterRole", "name": "view"}})
    api.patch(kinds.MPI_JOB_V1ALPHA2, "nccl-test-01x08", {"spec": {"slotsPerWorker": 7}}, "adas")
    assert lab.works("up").endswith("stack dev is up; objects on the cluster: 53 unchanged\n")
    assert api.get(kinds.ROLE_BINDING, "mpi", "adas")["roleRef"]["name"] == "view", "updated without --repair"
    done = lab.fails("drift", "--repairs")
    assert "not repaired: RoleBinding adas/mpi: the API server refuses" in done
    assert "cannot change roleRef" in done
    assert "not repaired: MPIJob adas/nccl-test-01x08: it would be replaced" in done

    done = lab.works("up", "--repair", "--replace", "RoleBinding/adas/mpi")
    assert api.get(kinds.ROLE_BINDING, "mpi", "adas")["roleRef"] == made["roleRef"]
    assert "not repaired: MPIJob adas/nccl-test-01x08: it would be replaced" in done
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
    """An update with a plan is refused when state or cluster have changed, or it does something else.

    The comment names the drift that the update leaves. The last of the lab's tests: the tenant stays.
    """
    plan, comment = tmp_path / "plan.json", tmp_path / "comment.md"
    lab.api.patch(kinds.CONFIG_MAP, "rdma-devices", {"data": {"more": "it's"}}, "kube-system")
    with settings(lab, add_tenant, run_again):
        lab.works("diff", "--plan", str(plan), "-o", str(comment))
        for words in ("vision", "`kube-system/rdma-devices` differs from what is declared", "The update leaves this"):
            assert words in comment.read_text()
        for secret in secrets(lab):
            assert secret not in plan.read_text()

        # A program that changed meanwhile, with the same settings, is the engine's to see.
        content = json.loads(plan.read_text())
        (urn,) = (urn for urn in content["resourcePlans"] if urn.endswith("::vision-quota"))
        content["resourcePlans"][urn]["steps"] = ["same"]
        other = tmp_path / "other.json"
        other.write_text(json.dumps(content))
        assert "The update differs from its plan" in lab.fails("up", "--plan", str(other))

        done = lab.works("up", "--plan", str(plan))
        assert "replaced" in done  # of them an MPIJob, which waits for patches of its operator
        assert lab.api.find(kinds.NAMESPACE, "vision") is not None

        lab.api.patch(kinds.CONFIG_MAP, "rdma-devices", {"data": {"more": None}}, "kube-system")
        refused = lab.fails("up", "--plan", str(plan))
        assert "another update has changed the state" in refused
        assert "the cluster has changed" in refused
