"""Our own declarations on a simulated cluster without an engine, with the waits that the provider would have."""

from collections.abc import Callable
from typing import Any

from components.operators.olm_operator import OlmOperator, OlmOperatorArgs
from core.apis import kinds
from core.apis.kinds import Kind
from tests.support.recorded import component, of_kind
from tests.support.user import User
from toolkit.render.manifests import manifests
from toolkit.simulator.actors.api import SERVICE
from toolkit.simulator.actors.job_manifests import WEBHOOKS
from toolkit.simulator.provider.observations import Seen
from toolkit.simulator.provider.wait_annotation import Rule, wait_rule

Manifest = dict[str, Any]
EARLY = ("CustomResourceDefinition", "Namespace", "SecurityContextConstraints", "OperatorGroup", "Subscription")


_SUBSCRIBED = {
    "openshift-cert-manager-operator": ("cert-manager-operator", "stable-v1"),
    "job-set": ("openshift-jobset-operator", "stable-v1.0"),
    "kubernetes-nmstate-operator": ("openshift-nmstate", "stable"),
    "kueue-operator": ("openshift-kueue-operator", "stable-v1.3"),
}
"""Package -> namespace and channel."""
_OF_THE_CLUSTER = {**WEBHOOKS, SERVICE.kind: SERVICE}
"""Kinds that the platform does not name."""


def subscribe(*packages: str) -> None:
    """Declare operators of Red Hat's catalogue."""
    for package in packages:
        namespace, channel = _SUBSCRIBED[package]
        args = OlmOperatorArgs(
            namespace=namespace,
            package=package,
            channel=channel,
            source="redhat-operators",
            own_namespace_only=package != "kueue-operator",
        )
        OlmOperator(package, args)


class Declared:
    """A cluster: `api` is the administrator, who waits as the provider would."""

    def __init__(self, api: User) -> None:
        self.api = api

    def declare(self, build: Callable[[], object]) -> None:
        """Bring what `build` declares onto the cluster; return when all its waits are over."""
        recorded = component(build)
        found = sorted(manifests(recorded), key=lambda each: each["kind"] not in EARLY)
        for manifest in found:
            self.api.eventually(lambda one=manifest: self.api.apply(kind_of(one), one))  # type: ignore[misc]
        for manifest in found:
            rule = wait_rule(manifest)
            if rule is not None:
                self.reaches(kind_of(manifest), manifest["metadata"], rule)
        for patch in of_kind(recorded, "MachineConfigPoolPatch"):
            rule = wait_rule(dict(patch.inputs))
            assert rule is not None
            self.reaches(kinds.MACHINE_CONFIG_POOL, patch.inputs["metadata"], rule)

    def reaches(self, kind: Kind, meta: Manifest, rule: Rule) -> None:
        """Wait until an object satisfies a rule of the provider."""
        name, namespace = meta["name"], meta.get("namespace")
        # A real controller of jobs is started on the way, on cores that tests share.
        self.api.eventually(lambda: rule(Seen(self.api.get(kind, name, namespace))).ready, seconds=300)


def kind_of(manifest: Manifest) -> Kind:
    """Return the kind of a manifest, of those that the cluster serves."""
    known = _OF_THE_CLUSTER.get(manifest["kind"])
    found = known or kinds.find(manifest["apiVersion"], manifest["kind"])
    assert found is not None, manifest["kind"]
    return found
