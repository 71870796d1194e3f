"""Adoption of a cluster whose objects were created manually after the Redpaper, in a lab of its own without a stack."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from core.apis import kinds
from core.apis.kinds import Kind
from tests.engine.kit import Cluster
from tests.support.clusters import FULL, require_tools
from tests.support.lab import Lab, checkout, eventually
from tests.support.user_objects import created, kind_of
from toolkit.simulator.actors.api import ApiError

pytestmark = pytest.mark.cluster

CREATED_MANUALLY = Path(__file__).with_name("created_manually") / "objects.yaml"
THEIRS_ALONE = "by-hand"
"""A job that no stack declares."""
IN_THE_WAY = "mofed-test-job"
"""A job with the name and another template than one of the stack."""
DEFINITION = "mpi-operator-definition"
REFUSED = {
    "ConfigMap/kube-system/rdma-devices": "rdma-device-plugin-config",
    "DaemonSet/kube-system/rdma-shared-dp-ds": "rdma-device-plugin-daemon-set",
    "SecurityContextConstraints/scc-for-mpi": "mpi-scc-constraints",
}
"""Objects with fields that the policies refuse, and their logical names."""
_FLEETING = ("Pod", "Node", "Event", "EndpointSlice", "Endpoints", "Lease", "ControllerRevision", "ReplicaSet")
"""Kinds of objects that others make and remove as they like."""
Name = tuple[str, str, str]


def created_manually() -> list[dict[str, Any]]:
    """Return the objects that were created manually."""
    return [*yaml.safe_load_all(CREATED_MANUALLY.read_text())]


def name_of(body: dict[str, Any]) -> Name:
    """Return the name by which this test identifies an object."""
    return body["kind"], body["metadata"].get("namespace", ""), body["metadata"]["name"]


def identities(lab: Lab) -> dict[Name, str]:
    """Return the UID of every object of every kind that the platform knows and does not come and go."""
    found: dict[Name, str] = {}
    for kind in (each for each in kinds.KINDS if each.kind not in _FLEETING):
        found |= {name_of({**each, "kind": kind.kind}): str(each["metadata"]["uid"]) for each in listed(lab, kind)}
    return found


def listed(lab: Lab, kind: Kind) -> list[dict[str, Any]]:
    """Return all objects of a kind; a server that has just got, or changed, its definition needs a moment."""
    items: list[dict[str, Any]] = []

    def answers() -> bool:
        try:
            items[:] = lab.api.list(kind)["items"]
        except ApiError as error:
            if "initializing" not in str(error) and not error.missing:
                raise
            return error.missing
        return True

    eventually(answers, f"{kind.kind}s cannot be listed")
    return items


def values(lab: Lab) -> dict[Name, Any]:
    """Return the fields of the manually created objects, without metadata and status."""
    held = {}
    for body in created_manually():
        live = lab.api.get(kind_of(body), body["metadata"]["name"], body["metadata"].get("namespace"))
        held[name_of(body)] = {key: value for key, value in live.items() if key not in ("metadata", "status")}
    return held


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """Give a cluster with manually created objects, and no stack."""
    require_tools(FULL)
    with checkout(tmp_path_factory.mktemp("by-hand")) as made:
        made.change(lambda platform: platform.update(stages=platform["stages"][:1]))  # the job in the way is in it
        made.works("sim", "up")
        assert "nothing to adopt" in made.works("state", "adopt")
        created(Cluster(made.kubeconfig, "hpc-sim-default"), CREATED_MANUALLY)
        eventually(lambda: running(made), "the user's job does not run")
        yield made


def running(lab: Lab) -> bool:
    """Whether the user's own job runs."""
    return [pod["status"]["phase"] for pod in lab.pods(f"job-name={THEIRS_ALONE}")] == ["Running"]


def changes(lab: Lab) -> dict[str, set[str]]:
    """Return the operations of a preview, each with the logical names that it is about; policies may refuse it."""
    found: dict[str, set[str]] = {}
    for step in json.loads(lab.hpc("pulumi", "preview", "--json").stdout)["steps"]:
        found.setdefault(step["op"], set()).add(step["urn"].rpartition("::")[2])
    return found


def test_a_manually_created_cluster_is_adopted_and_released(lab: Lab, tmp_path: Path) -> None:
    """Adopting imports existing objects as they are, also after a kill; leaving the stack leaves them in place."""
    before, held = identities(lab), values(lab)
    comment, file = tmp_path / "comment.md", tmp_path / "import.json"
    printed = lab.works("state", "adopt", "-o", str(comment), "--import-file", str(file))
    assert (identities(lab), values(lab)) == (before, held)
    assert "groups[0]" in printed
    assert "would be replaced, and left out: Job/adas/mofed-test-job" in printed
    assert "spec.selector" in printed
    assert "groups" in comment.read_text()
    entries = {each["logicalName"] for each in json.loads(file.read_text())["resources"]}
    objects = {each for each in entries if each not in {"adas", "adas.data", "memlock", "mpi-operator", "mpi-scc"}}
    assert objects - {"rdma-device-plugin"} == adopted_names()

    killed(lab, "state", "adopt", "--yes")
    assert "would be replaced" in lab.works("state", "adopt", "--yes")
    assert (identities(lab), values(lab)) == (before, held)
    settings = yaml.safe_load((lab.root / "Pulumi.dev.yaml").read_text())["config"]["hpc:platform"]
    wanted = {
        "/".join(filter(None, name_of(body))) for body in created_manually() if name_of(body)[2] not in left_out()
    }
    assert set(settings["adopted"]) == wanted
    assert settings["extra"]["SecurityContextConstraints/scc-for-mpi"]["groups"] == ["system:authenticated"]

    steps = changes(lab)
    assert set(steps) == {"create", "same", "update"}
    assert steps["update"] == {DEFINITION}
    refused = lab.fails("up")
    assert all(rule in refused for rule in ("scc-narrow-groups", "image-pinned", "rdma-offered"))
    mine = {name: fields for name, fields in held.items() if name[2] not in (IN_THE_WAY, "mpijobs.kubeflow.org")}
    assert values(lab).items() >= mine.items()

    # What the policies refuse goes; nothing else of the user's changes.
    def decided(platform: dict[str, Any]) -> None:
        platform["extra"] = {name: fields for name, fields in platform["extra"].items() if name not in REFUSED}

    lab.change(decided)
    assert changes(lab)["update"] == {DEFINITION, *REFUSED.values()}
    # What is in the way is the user's to delete.
    lab.take(kinds.JOB, IN_THE_WAY, "adas")
    lab.works("up")
    after, then = identities(lab), values(lab)
    kept = {name: uid for name, uid in before.items() if name[2] != IN_THE_WAY}
    assert {name: after.get(name) for name in kept} == kept
    assert {"/".join(filter(None, name)) for name in mine if then[name] != held[name]} == {*REFUSED}
    assert lab.api.get(kinds.NAMESPACE, "adas")["metadata"]["labels"]["team"] == "adas"

    lab.works("destroy")
    left = identities(lab)
    assert {name: left.get(name) for name in kept} == kept
    ours = set(after) - set(before)
    assert not [name for name in ours & set(left) if has_our_label(lab, name)]
    eventually(lambda: running(lab), "the user's job does not run any more")


def adopted_names() -> set[str]:
    """Return the logical names of what is adopted."""
    return {
        *("memlock-machine-config", "adas-namespace", "adas-account", "adas-role", "adas-binding"),
        *("mpi-operator-namespace", "mpi-operator-definition", "mpi-operator-account", "mpi-scc-constraints"),
        *("adas.data-volume", "adas.data-claim", "rdma-device-plugin-config", "rdma-device-plugin-daemon-set"),
    }


def left_out() -> set[str]:
    """Return the names of what cannot be adopted."""
    return {THEIRS_ALONE, IN_THE_WAY}


def has_our_label(lab: Lab, name: Name) -> bool:
    """Whether an object of those that are left is one that a stack makes."""
    kind = next(each for each in kinds.KINDS if each.kind == name[0])
    found = lab.api.find(kind, name[2], name[1] or None) or {"metadata": {}}
    return bool(found["metadata"].get("labels", {}).get("app.kubernetes.io/part-of") == "hpc")


def killed(lab: Lab, *arguments: str) -> None:
    """Run a command, and kill it with its engine when the first object has been imported."""
    outside = {key: value for key, value in os.environ.items() if not key.startswith(("PULUMI_", "HPC_SIM"))}
    process = subprocess.Popen(
        [sys.executable, "-u", str(lab.root / "toolkit" / "cli"), *arguments],
        cwd=lab.root,
        env=outside,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    said = ""
    for line in process.stdout:
        said += line
        if "    imported " in line:
            break
    else:
        pytest.fail(f"nothing was imported:\n{said}")
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    process.stdout.close()
