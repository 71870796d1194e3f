"""The objects of one job as a user creates them: those that the program would declare, without what Pulumi adds."""

from typing import Any

import pulumi

from stacks.layers import workloads
from stacks.loading.settings import PROJECT
from stacks.settings.platform import Settings
from toolkit.render.manifests import managed_by, manifests
from toolkit.render.recorder import record


def objects(settings: Settings, stack: str) -> list[dict[str, Any]]:
    """Return the manifests of the settings' workloads, the job itself last: it needs the others."""
    recorded = record(
        lambda: workloads.build(settings, (), (), lambda *_: "", locks={}, opts=pulumi.ResourceOptions()),
        stack=stack,
        project=PROJECT,
    )
    managed = [managed_by(None, manifest) for manifest in manifests(recorded)]
    return sorted(managed, key=lambda manifest: "template" in manifest["spec"] or "job" in manifest["kind"].lower())
