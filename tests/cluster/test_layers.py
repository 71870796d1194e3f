"""A platform and its tenants as stacks of their own on one cluster, and one stack that becomes both.

The tests build on each other in the order of the file.
"""

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from apis import kinds
from apis.kinds import Kind
from cli.shared.backends.backend import of_folder
from cli.shared.backends.tags import UID
from simulator.actors.api import Api, Server
from tests.support.clusters import FULL, require_tools
from tests.support.lab import Lab, checkout

pytestmark = pytest.mark.cluster

PLATFORM, TENANTS = "two-layers", "two-layers-tenants"
EXAMPLES = "stacks/examples"


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """Give a checkout with the platform up, its state in a bucket; that of the test below is in a folder."""
    require_tools(FULL)
    with checkout(tmp_path_factory.mktemp("layers")) as made:
        assert "two-layers, the platform of stack two-layers-tenants, is not up" in made.fails("up", "-s", TENANTS)
        made.works("up", "-s", PLATFORM, "--backend", "s3")
        yield made
        made.hpc("sim", "clean", "--name", PLATFORM)
        made.hpc("sim", "clean", "--name", "joint")


def change(lab: Lab, stack: str, key: str, value: Any) -> None:
    """Change a setting of an example."""
    file = lab.root / EXAMPLES / f"{stack}.yaml"
    content = yaml.safe_load(file.read_text())
    content["config"]["hpc:platform"][key] = value
    file.write_text(yaml.safe_dump(content))


def settings(lab: Lab, stack: str) -> dict[str, Any]:
    """Return what an example has."""
    found: dict[str, Any] = yaml.safe_load((lab.root / EXAMPLES / f"{stack}.yaml").read_text())["config"]
    return dict(found["hpc:platform"])


def api(lab: Lab, cluster: str = PLATFORM) -> Api:
    """Return the API server of a cluster of the checkout."""
    server = Server(lab.root / ".sim" / cluster / "kubeconfig")
    return Api(server, lambda: server.token, "the test")


def uids(lab: Lab, kind: Kind, cluster: str = PLATFORM) -> dict[str, str]:
    """Return the identities of all objects of a kind, by namespace and name."""
    found = api(lab, cluster).list(kind)["items"]
    return {
        f"{each['metadata'].get('namespace')}/{each['metadata']['name']}": each["metadata"]["uid"] for each in found
    }


def plain(lab: Lab, stack: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run plain `pulumi` in the environment that `./hpc env` prints."""
    words = " ".join(arguments)
    return subprocess.run(
        ["bash", "-c", f'eval "$(./hpc env --stack {stack})" && pulumi {words} --stack {stack} --non-interactive'],
        cwd=lab.root,
        env={key: value for key, value in os.environ.items() if not key.startswith(("PULUMI_", "HPC_SIM"))},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )


def test_tenants_come_up_on_their_platform(lab: Lab) -> None:
    """Tenants of a stack of their own come up and pass; a preview of either stack shows no change afterwards."""
    lab.works("up", "-s", TENANTS)
    assert "passed: " in lab.works("verify", "-s", TENANTS, "--wait", "300")
    for stack in (PLATFORM, TENANTS):
        lab.works("preview", "-s", stack, "--expect-no-changes")
    assert {"None/adas", "None/perception"} <= uids(lab, kinds.CLUSTER_QUEUE).keys()
    assert plain(lab, TENANTS, "preview", "--expect-no-changes").returncode == 0


def test_a_team_adds_a_tenant_without_touching_the_platform(lab: Lab) -> None:
    """A new tenant needs no update of the platform, and replaces no object of others."""
    before = {
        kind.kind: uids(lab, kind)
        for kind in (kinds.SECURITY_CONTEXT_CONSTRAINTS, kinds.RESOURCE_FLAVOR, kinds.CLUSTER_QUEUE)
    }
    tenant = {
        "namespace": "vision",
        "uid_range": {"start": 1075600000},
        "mcs": "s0:c3,c9",
        "run_as_uid": 1075600001,
        "run_as_gid": 1075600001,
        "gpu_quota": 4,
    }
    change(lab, TENANTS, "tenants", [*settings(lab, TENANTS)["tenants"], tenant])
    lab.works("preview", "-s", PLATFORM, "--expect-no-changes")
    lab.works("up", "-s", TENANTS)
    for kind in (kinds.SECURITY_CONTEXT_CONSTRAINTS, kinds.RESOURCE_FLAVOR, kinds.CLUSTER_QUEUE):
        after = uids(lab, kind)
        assert before[kind.kind].items() <= after.items()
    assert "None/vision" in uids(lab, kinds.CLUSTER_QUEUE)
    lab.works("preview", "-s", PLATFORM, "--expect-no-changes")
    lab.works("preview", "-s", TENANTS, "--expect-no-changes")


def test_a_platform_that_was_not_updated_is_reported_with_both_values(lab: Lab) -> None:
    """Tenants are refused where the platform's file has changed since its update, also by plain `pulumi`."""
    classes = [
        *settings(lab, PLATFORM)["priority_classes"],
        {"class_name": "night", "value": 1, "purpose": "idle GPUs"},
    ]
    change(lab, PLATFORM, "priority_classes", classes)
    said = "priorityClasses: the stack has verification (2000), training (1000), its file says verification (2000), "
    for text in (lab.fails("up", "-s", TENANTS), plain(lab, TENANTS, "preview").stdout):
        assert "platform of these tenants, was not updated since its file changed" in " ".join(text.split())
        assert said in " ".join(text.split())
    lab.works("up", "-s", PLATFORM)
    lab.works("preview", "-s", TENANTS, "--expect-no-changes")


def test_tenants_go_and_the_platform_stays(lab: Lab) -> None:
    """A platform with tenants is not deleted; tenants are deleted without any part of the platform."""
    assert f"is the platform of stack {TENANTS}, which has objects on it" in lab.fails("down", "-s", PLATFORM)
    lab.works("down", "-s", TENANTS)
    assert not {"None/adas", "None/vision"} & uids(lab, kinds.CLUSTER_QUEUE).keys()
    assert "None/scc-for-mpi" in uids(lab, kinds.SECURITY_CONTEXT_CONSTRAINTS)
    lab.works("preview", "-s", PLATFORM, "--expect-no-changes")
    lab.works("down", "-s", PLATFORM)


def _write(file: Path, content: dict[str, Any]) -> None:
    file.write_text(yaml.safe_dump({"config": {"hpc:platform": content}}))


def test_one_stack_becomes_two_and_nothing_is_made_or_deleted(tmp_path: Path) -> None:
    """`./hpc split` makes two stacks of one, and creates, replaces and deletes no object."""
    require_tools(FULL)
    with checkout(tmp_path) as lab:
        try:
            _split(lab)
        finally:
            lab.hpc("sim", "clean", "--name", "joint")


def _split(lab: Lab) -> None:
    cluster = {"kubeconfig": ".sim/joint/kubeconfig", "context": "hpc-sim-joint", "identifier": "joint"}
    upper = settings(lab, PLATFORM) | {"cluster": {**cluster, "simulated": True}, "protect": True}
    lower = settings(lab, TENANTS) | {"platform": "joint"}
    own, theirs = lab.root / "Pulumi.joint.yaml", lab.root / "Pulumi.joint-tenants.yaml"
    _write(own, {key: value for key, value in (upper | lower).items() if key not in ("layer", "platform")})
    lab.works("up", "-s", "joint")
    watched = (
        kinds.CLUSTER_QUEUE,
        kinds.LOCAL_QUEUE,
        kinds.RESOURCE_FLAVOR,
        kinds.SECURITY_CONTEXT_CONSTRAINTS,
        kinds.MPI_JOB_V2BETA1,
    )
    before = {kind.kind: uids(lab, kind, "joint") for kind in watched}

    _write(own, upper)
    _write(theirs, lower)
    assert "`./hpc split --stack joint-tenants`" in lab.fails("up", "-s", "joint")
    assert "--yes does it" in lab.works("split", "-s", "joint-tenants")
    lab.works("split", "-s", "joint-tenants", "--yes")
    backend = of_folder(lab.root / ".sim" / "joint" / "pulumi")
    noted = backend.tags("joint")
    assert backend.tags("joint-tenants") == noted, "objects, and no cluster: an update against another is not refused"
    assert noted.get(UID)
    assert "has nothing of stack joint-tenants" in lab.works("split", "-s", "joint-tenants", "--yes")
    lab.works("up", "-s", "joint")
    changes = json.loads(lab.works("preview", "-s", "joint-tenants", "--json"))["changeSummary"]
    assert changes.keys() <= {"same", "create", "read"}
    assert changes.get("create", 0) <= 2  # the stack, and the component that its queues are part of
    lab.works("up", "-s", "joint-tenants")
    assert {kind.kind: uids(lab, kind, "joint") for kind in watched} == before
    for stack in ("joint", "joint-tenants"):
        lab.works("preview", "-s", stack, "--expect-no-changes")
    assert not list(lab.root.glob("Pulumi.joint*passphrase"))
    assert "encryptionsalt" not in own.read_text() + theirs.read_text()
