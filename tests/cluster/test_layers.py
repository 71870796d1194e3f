"""One stack that becomes a platform and its tenants, as stacks of their own on one cluster.

The tests build on each other in the order of the file.
"""

import re
from collections.abc import Iterator
from typing import Any

import pytest
import yaml

from core.apis import kinds
from core.apis.kinds import Kind
from tests.support.clusters import FULL, require_tools
from tests.support.lab import Lab, checkout, plain
from toolkit.cli.shared.backends.backend import CLUSTER_UID
from toolkit.cli.shared.simulated import backend as simulated_backend
from toolkit.simulator.actors.api import Api, Server

pytestmark = pytest.mark.cluster

PLATFORM, TENANTS = "two-layers", "two-layers-tenants"
EXAMPLES = "stacks/examples"
TEAM = "vision"


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """Give a checkout whose one stack has both layers, its state in a bucket."""
    require_tools(FULL)
    with checkout(tmp_path_factory.mktemp("layers")) as made:
        change(made, PLATFORM, protect=True)
        upper = settings(made, PLATFORM)
        change(made, PLATFORM, **settings(made, TENANTS) | dict.fromkeys(("layer", "platform")))
        made.works("up", "-s", PLATFORM, "--backend", "s3")
        change(made, PLATFORM, **dict.fromkeys(settings(made, TENANTS)) | upper)
        yield made
        made.hpc("sim", "clean", "--name", PLATFORM)


def change(lab: Lab, stack: str, **values: Any) -> None:
    """Change settings of an example; None takes one away."""
    file = lab.root / EXAMPLES / f"{stack}.yaml"
    content = yaml.safe_load(file.read_text())
    platform = content["config"]["hpc:platform"] | values
    content["config"]["hpc:platform"] = {key: value for key, value in platform.items() if value is not None}
    file.write_text(yaml.safe_dump(content))


def settings(lab: Lab, stack: str) -> dict[str, Any]:
    """Return what an example has."""
    found: dict[str, Any] = yaml.safe_load((lab.root / EXAMPLES / f"{stack}.yaml").read_text())["config"]
    return dict(found["hpc:platform"])


def api(lab: Lab) -> Api:
    """Return the API server of the cluster."""
    server = Server(lab.root / ".sim" / PLATFORM / "kubeconfig")
    return Api(server, lambda: server.token, "the test")


def uids(lab: Lab, kind: Kind) -> dict[str, str]:
    """Return the identities of all objects of a kind, by namespace and name."""
    found = api(lab).list(kind)["items"]
    return {
        f"{each['metadata'].get('namespace')}/{each['metadata']['name']}": each["metadata"]["uid"] for each in found
    }


def of_all(lab: Lab, watched: tuple[Kind, ...]) -> dict[str, dict[str, str]]:
    """Return the identities of all objects of kinds."""
    return {kind.kind: uids(lab, kind) for kind in watched}


def test_one_stack_becomes_two_and_nothing_is_made_or_deleted(lab: Lab) -> None:
    """`./hpc state split` makes two stacks of one, and creates, replaces and deletes no object, protected or not."""
    watched = (
        kinds.CLUSTER_QUEUE,
        kinds.LOCAL_QUEUE,
        kinds.RESOURCE_FLAVOR,
        kinds.SECURITY_CONTEXT_CONSTRAINTS,
        kinds.MPI_JOB_V2BETA1,
    )
    before = of_all(lab, watched)
    assert f"`./hpc state split --stack {TENANTS}`" in lab.fails("up", "-s", PLATFORM)
    assert "--yes does it" in lab.works("state", "split", "-s", TENANTS)
    lab.works("state", "split", "-s", TENANTS, "--yes")
    backend = simulated_backend.of_cluster(lab.root / ".sim" / PLATFORM)
    noted = backend.tags(PLATFORM)
    assert backend.tags(TENANTS) == noted, "objects, and no cluster: an update against another is not refused"
    assert noted.get(CLUSTER_UID)
    assert f"has nothing of stack {TENANTS}" in lab.works("state", "split", "-s", TENANTS, "--yes")
    for stack in (PLATFORM, TENANTS):
        assert re.search(r"objects on the cluster: \d+ unchanged\n$", lab.works("up", "-s", stack))
    assert of_all(lab, watched) == before
    assert "passed: " in lab.works("verify", "-s", TENANTS, "--wait", "300")
    assert not list(lab.root.glob("Pulumi.two-layers*passphrase"))
    for stack in (PLATFORM, TENANTS):
        assert "encryptionsalt" not in (lab.root / EXAMPLES / f"{stack}.yaml").read_text()


def test_a_team_adds_a_tenant_without_touching_the_platform(lab: Lab) -> None:
    """A new tenant, in a stack of its own, needs no update of the platform, and replaces no object of others."""
    watched = (kinds.SECURITY_CONTEXT_CONSTRAINTS, kinds.RESOURCE_FLAVOR, kinds.CLUSTER_QUEUE)
    before = of_all(lab, watched)
    assert {"None/adas", "None/perception"} <= before["ClusterQueue"].keys()
    tenant = {
        "namespace": "vision",
        "uid_range": {"start": 1075600000},
        "mcs": "s0:c3,c9",
        "run_as_uid": 1075600001,
        "run_as_gid": 1075600001,
        "gpu_quota": 4,
    }
    own = {"config": {"hpc:platform": {"platform": PLATFORM, "tenants": [tenant]}}}
    (lab.root / f"Pulumi.{TEAM}.yaml").write_text(yaml.safe_dump(own))
    change(lab, PLATFORM, protect=False)  # of the team's objects, which the last test deletes
    lab.works("up", "-s", TEAM)
    after = of_all(lab, watched)
    for kind, objects in before.items():
        assert objects.items() <= after[kind].items()
    assert "None/vision" in after["ClusterQueue"]


def test_a_platform_that_was_not_updated_is_reported_with_both_values(lab: Lab) -> None:
    """Tenants are refused where the platform's file has changed since its update, also by plain `pulumi`."""
    file = lab.root / EXAMPLES / f"{PLATFORM}.yaml"
    updated = file.read_text()
    classes = [
        *settings(lab, PLATFORM)["priority_classes"],
        {"class_name": "night", "value": 1, "purpose": "idle GPUs"},
    ]
    change(lab, PLATFORM, priority_classes=classes)
    said = "priorityClasses: the stack has verification (2000), training (1000), its file says verification (2000), "
    refused = " ".join(plain(lab, TENANTS, "preview").stdout.split())
    assert "platform of these tenants, was not updated since its file changed" in refused
    assert said in refused
    file.write_text(updated)


def test_tenants_go_and_the_platform_stays(lab: Lab) -> None:
    """A platform with tenants is not deleted; tenants are deleted without any part of the platform."""
    assert f"is the platform of stack {TEAM}, which has objects on it" in lab.fails("destroy", "-s", PLATFORM)
    lab.works("destroy", "-s", TEAM)
    (lab.root / f"Pulumi.{TEAM}.yaml").unlink()
    assert "None/vision" not in uids(lab, kinds.CLUSTER_QUEUE)
    assert "None/scc-for-mpi" in uids(lab, kinds.SECURITY_CONTEXT_CONSTRAINTS)
    change(lab, PLATFORM, protect=True)
    lab.works("pulumi", "preview", "-s", PLATFORM, "--expect-no-changes")
    assert plain(lab, TENANTS, "preview", "--expect-no-changes").returncode == 0
