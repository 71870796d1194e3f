"""Stack dev as a GitOps tool applies it: wave by wave, by server-side apply, on a cluster without Pulumi."""

from collections.abc import Iterator, Mapping
from typing import Any

import pytest
import yaml

from apis import kinds
from cli.shared import simulated_spec
from cli.shared.stack import Stack
from components import waits
from rendering.gitops import argocd
from rendering.gitops.waves import Member, Waves, waves
from rendering.manifests import registrations
from stacks.settings import load
from tests.cluster.declaring import kind_of
from tests.support.clusters import running
from tests.support.health_rules import holds
from tests.support.recorded import ROOT
from tests.support.user import User

pytestmark = pytest.mark.cluster

STACK = "dev"
BUILT_IN = {
    "CustomResourceDefinition": (waits.condition("Established"),),
    "Deployment": (waits.condition("Available"),),
    "DaemonSet": (waits.exists(".status.numberAvailable"),),
}
"""What Argo CD and Flux wait for without a rule of ours, roughly."""


@pytest.fixture(scope="module")
def api() -> Iterator[User]:
    """Give the administrator of a cluster with the nodes of the stack."""
    spec = simulated_spec.of(Stack(STACK, load(STACK, ROOT))).model_copy(update={"name": "test-gitops"})
    with running(spec) as started:
        yield User.of(started.kubeconfig)


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
            api.eventually(lambda one=member: healthy(api, one))  # type: ignore[misc]
    ran = jobs(api, ordered)
    for number in range(len(ordered.members)):
        apply(api, files, number)
    assert jobs(api, ordered) == ran
