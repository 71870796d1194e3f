"""Makes the objects that the setting `objects` describes: the test is the program."""

from typing import Any

import pulumi
from pulumi_kubernetes import Provider

config = pulumi.Config()
provider = Provider("cluster", **config.require_object("provider"))


class Thing(pulumi.CustomResource):
    """An object of any kind, with its fields as they are in a manifest."""

    metadata: pulumi.Output[dict[str, Any]]

    def __init__(self, token: str, name: str, fields: dict[str, Any], opts: pulumi.ResourceOptions) -> None:
        super().__init__(token, name, {"metadata": None, "status": None, **fields}, opts)


made: dict[str, Thing] = {}
for item in config.require_object("objects"):
    options = item.get("options", {})
    options["depends_on"] = [made[name] for name in options.get("depends_on", [])]
    options["aliases"] = [pulumi.Alias(type_=token) for token in options.get("aliases", [])]
    fields = item["fields"]
    for key in item.get("secret", []):
        fields[key] = pulumi.Output.secret(fields[key])
    made[item["name"]] = Thing(
        item["token"],
        item["name"],
        fields,
        pulumi.ResourceOptions(provider=provider, **options),
    )
    pulumi.export(item["name"], made[item["name"]].id)
