"""The objects of one job as a user creates them: those that the program would declare, without what Pulumi adds."""

from collections.abc import Mapping
from typing import Any

import pulumi

from apis import names
from components.labels import MANAGED_BY
from rendering.manifests import manifests
from rendering.recorder import record
from stacks import workloads
from stacks.platform import Settings
from stacks.settings import PROJECT

_PULUMI = (names.WAIT_FOR, names.SKIP_AWAIT, names.TIMEOUT_SECONDS)


def objects(settings: Settings, stack: str) -> list[dict[str, Any]]:
    """Return the manifests of the settings' workloads, the job itself last: it needs the others."""
    recorded = record(
        lambda: workloads.build(settings, (), (), lambda *_: "", locks={}, opts=pulumi.ResourceOptions()),
        stack=stack,
        project=PROJECT,
    )
    found = [_of_user(manifest) for manifest in manifests(recorded)]
    return sorted(found, key=lambda manifest: "template" in manifest["spec"] or "job" in manifest["kind"].lower())


def _of_user(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """Return a manifest that no engine waits for, nor manages."""
    metadata = {**manifest["metadata"]}
    metadata["labels"] = {key: text for key, text in metadata["labels"].items() if key != MANAGED_BY}
    kept = {key: text for key, text in metadata.pop("annotations", {}).items() if key not in _PULUMI}
    return {**manifest, "metadata": metadata | ({"annotations": kept} if kept else {})}
