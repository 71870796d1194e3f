"""The health rules in CEL, as Flux has them: the API server's own CEL judges samples by them."""

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from core.apis.kinds import CUSTOM_RESOURCE_DEFINITION, Kind
from tests.support.health_rules import SAMPLES, holds, live, rules
from tests.support.user import User
from toolkit.render.gitops.health import cel_expression
from toolkit.simulator.cluster import Cluster

pytestmark = pytest.mark.cluster

SAMPLE = Kind("hpc.test", "v1", "Sample", "samples", "Cluster")
POLICY, BINDING = (
    Kind("admissionregistration.k8s.io", "v1", kind, f"{kind.lower().removesuffix('y')}{end}", "Cluster")
    for kind, end in (("ValidatingAdmissionPolicy", "ies"), ("ValidatingAdmissionPolicyBinding", "s"))
)


def body(kind: Kind, name: str, **fields: Any) -> dict[str, Any]:
    """Return an object of a kind."""
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": {"name": name}, **fields}


@pytest.fixture
def user(bare_api: Cluster) -> Iterator[User]:
    """Give the administrator of a server with a kind of free form, whose healthy objects bring warnings."""
    user = User.of(bare_api.kubeconfig)
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    names = {"kind": SAMPLE.kind, "plural": SAMPLE.plural}
    definition = {"group": SAMPLE.group, "scope": "Cluster", "names": names, "versions": [version]}
    user.apply(CUSTOM_RESOURCE_DEFINITION, body(CUSTOM_RESOURCE_DEFINITION, "samples.hpc.test", spec=definition))
    policy = {
        "matchConstraints": {
            "resourceRules": [
                {"apiGroups": [SAMPLE.group], "apiVersions": ["*"], "operations": ["CREATE"], "resources": ["samples"]}
            ]
        },
        "validations": [
            {"expression": f"!({cel_expression(health, 'object')})", "message": f"rule-{number}."}
            for number, health in enumerate(rules())
        ],
    }
    user.apply(POLICY, body(POLICY, "health", spec=policy))
    user.apply(BINDING, body(BINDING, "health", spec={"policyName": "health", "validationActions": ["Warn"]}))
    yield user
    for kind, name in ((BINDING, "health"), (POLICY, "health"), (CUSTOM_RESOURCE_DEFINITION, "samples.hpc.test")):
        user.delete(kind, name)


def warnings(user: User, name: str, sample: dict[str, Any]) -> list[str]:
    """Create a sample, and return the server's warnings."""
    user.delete(SAMPLE, name)
    with closing(user._open("create", SAMPLE, None, body={**body(SAMPLE, name), **sample})) as response:
        return list(response.headers.getlist("Warning"))


def test_cel_judges_as_the_provider_does(user: User) -> None:
    """For every wait of every stack an object is healthy exactly when the update would go on; no field is an error."""
    healthy = {"status": {"state": "ready"}}
    user.eventually(lambda: warnings(user, "first", healthy), seconds=60)
    for column, sample in enumerate(SAMPLES):
        if "observedGeneration" in sample.get("status", {}):
            continue  # Flux itself compares that one.
        texts = warnings(user, f"sample-{column}", sample)
        judged = {number for number in range(len(rules())) if any(f"rule-{number}." in text for text in texts)}
        expected = {
            number
            for number, health in enumerate(rules())
            if holds(next(iter(health.rules)), live(sample, generation=1))
        }
        assert judged == expected, (sample, texts)
        assert len(texts) == len(expected), texts
