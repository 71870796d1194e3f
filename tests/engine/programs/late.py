"""Makes the objects that the setting `objects` describes; `<late:VALUE>` is VALUE once the first object is made."""

import json
from typing import Any

import pulumi
from pulumi_kubernetes import Provider

config = pulumi.Config("kit")
provider = Provider("cluster", **config.require_object("provider"))
first, *others = config.require_object("objects")


def make(item: dict[str, Any], fields: dict[str, Any]) -> pulumi.CustomResource:
    """Register one object."""
    return pulumi.CustomResource(item["token"], item["name"], fields, pulumi.ResourceOptions(provider=provider))


made = make(first, first["fields"])


def late(value: Any) -> Any:
    """Replace the marks by outputs of the first object."""
    if isinstance(value, dict):
        return {key: late(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [late(entry) for entry in value]
    if isinstance(value, str) and value.startswith("<late:"):
        known = json.loads(value.removeprefix("<late:").removesuffix(">"))
        return made.id.apply(lambda _: known)
    return value


for item in others:
    make(item, late(item["fields"]))
