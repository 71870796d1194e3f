"""MachineConfigs: what all of them have, and the wait until a pool runs with them."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal
from urllib.parse import quote

import pulumi
from pulumi_kubernetes import apiextensions, meta

from components.base import waits
from components.base.component import Component, CustomObject
from core.apis import kinds, names
from core.apis.names import labels

Ignition = Literal["2.2.0", "3.2.0"]
"""Version of the configuration's language: 2.2.0 up to OpenShift 4.5, 3.x from 4.6 on."""

Parts = Mapping[str, str]
"""MachineConfigs by name, each with a digest of its content."""

_FILE: Mapping[Ignition, Mapping[str, Any]] = {"2.2.0": {"filesystem": "root"}, "3.2.0": {"overwrite": True}}
_READABLE = 0o644


def file(version: Ignition, path: str, text: str) -> dict[str, Any]:
    """Return a file that root owns and all users may read, as Ignition of `version` has it."""
    source = "data:," + quote(text)
    return {"path": path, "mode": _READABLE, "contents": {"source": source}, **_FILE[version]}


def digest(content: Any) -> str:
    """Return what changes whenever the content does: 16 hexadecimal digits."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]


def machine_config(
    owner: Component, name: str, pool: str, spec: Mapping[str, Any], *, config_name: str, subject: str
) -> CustomObject:
    """Declare a MachineConfig of the pool; `subject` becomes a label."""
    return CustomObject(
        f"{name}-machine-config",
        kinds.MACHINE_CONFIG,
        meta.v1.ObjectMetaArgs(name=config_name, labels={**labels(subject, "nodes"), names.MACHINE_CONFIG_ROLE: pool}),
        {"spec": spec},
        owner.child(),
    )


def rollout(
    owner: Component, name: str, pool: str, parts: Parts, *, timeout: int, after: Sequence[pulumi.Resource] = ()
) -> apiextensions.CustomResourcePatch:
    """Declare the wait until every node of the pool runs with all `parts`; at most `timeout` seconds.

    There is one for a pool: two would own the same annotations of the pool, and the second is refused.
    """
    sources = [waits.exists(f'.status.configuration.source[?(@.name=="{part}")].name') for part in parts]
    return apiextensions.CustomResourcePatch(
        f"{name}-rollout",
        api_version=kinds.MACHINE_CONFIG_POOL.api_version,
        kind=kinds.MACHINE_CONFIG_POOL.kind,
        metadata=meta.v1.ObjectMetaArgs(
            name=pool,
            annotations={
                names.AWAITED: ",".join(parts.values()),
                **waits.wait_for([*sources, waits.condition("Updated")], timeout=timeout),
            },
        ),
        opts=owner.child(*after),
    )
