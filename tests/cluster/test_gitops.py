"""Stack dev as a GitOps tool applies it: wave by wave, by server-side apply; and its adoption by Pulumi."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
import yaml

from components.base import waits
from core.apis import kinds
from tests.cluster.declaring import kind_of
from tests.support.clusters import FULL, require_tools
from tests.support.health_rules import holds
from tests.support.lab import Lab, checkout
from tests.support.user import User
from toolkit.render.gitops import argocd
from toolkit.render.gitops.waves import Member, Waves, waves
from toolkit.render.manifests import registrations

pytestmark = pytest.mark.cluster

STACK = "dev"
BUILT_IN = {
    "CustomResourceDefinition": (waits.condition("Established"),),
    "Deployment": (waits.condition("Available"),),
    "DaemonSet": (waits.exists(".status.numberAvailable"),),
}
"""What Argo CD and Flux wait for without a rule of ours, roughly."""


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """Give a cluster with the nodes of the stack, and nothing else of it."""
    require_tools(FULL)
    with checkout(tmp_path_factory.mktemp("gitops")) as made:
        made.works("sim", "up")
        yield made


@pytest.fixture(scope="module")
def api(lab: Lab) -> User:
    """Give the administrator of the cluster."""
    return User.of(lab.kubeconfig)


def healthy(api: User, member: Member) -> bool:
    """Return whether an object is what its wave waits for."""
    rule = member.waits or BUILT_IN.get(member.manifest["kind"])
    if not rule:
        return True
    _, namespace, name = member.identity
    return holds(rule, api.get(kind_of(dict(member.manifest)), name, namespace or None))


def apply(api: User, files: Mapping[str, str], number: int) -> None:
    """Apply the files of a wave as they are written; the server accepts each at once."""
    for file, text in files.items():
        if file.startswith(f"waves/{number:02}/"):
            manifest: dict[str, Any] = yaml.safe_load(text)
            api.apply(kind_of(manifest), manifest)


def jobs(api: User, ordered: Waves) -> dict[str, tuple[str, int]]:
    """Return what changes when a job runs again or its manifest differs, by name."""
    members = [member for members in ordered.members for member in members if member.job]
    live = [
        api.get(kind_of(dict(member.manifest)), member.identity[2], member.identity[1])["metadata"]
        for member in members
    ]
    return {metadata["name"]: (metadata["uid"], metadata["generation"]) for metadata in live}


def test_each_wave_is_accepted_and_healthy_with_the_earlier_ones_alone(api: User) -> None:
    """No object is refused, all become healthy, and another pass runs no job again."""
    ordered = waves(registrations(STACK, first_preview=True))
    files = argocd.files(ordered, STACK, "dev", None)
    for number, members in enumerate(ordered.members):
        for secret in ordered.secrets if number == 1 else ():
            # Their namespaces are in the first wave.
            metadata = {"name": secret.name, "namespace": secret.namespace}
            data = dict.fromkeys(secret.keys, "invented")
            api.apply(kinds.SECRET, {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "stringData": data})
        apply(api, files, number)
        for member in members:
            api.eventually(lambda one=member: healthy(api, one), member.identity)  # type: ignore[misc]
    ran = jobs(api, ordered)
    for number in range(len(ordered.members)):
        apply(api, files, number)
    assert jobs(api, ordered) == ran


def test_what_a_tool_applied_is_adopted_without_a_change(lab: Lab, api: User) -> None:
    """Pulumi adopts all that the waves brought, changes nothing in it, and leaves it in place when the stack goes."""
    ordered = waves(registrations(STACK, first_preview=True))
    ran = jobs(api, ordered)
    lab.works("state", "adopt", "--yes")
    steps = json.loads(lab.works("pulumi", "preview", "--json"))["steps"]
    # Secrets have values that this test invented, and patches are of objects of others.
    objects = [step for step in steps if "kubernetes:" in step["urn"] and ":Secret::" not in step["urn"]]
    assert {step["urn"]: step.get("detailedDiff") for step in objects if step["op"] not in ("same", "create")} == {}
    assert [step["urn"] for step in objects if step["op"] == "create" and "Patch::" not in step["urn"]] == []
    lab.works("up")
    lab.works("destroy")
    assert jobs(api, ordered) == ran
