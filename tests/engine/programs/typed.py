"""A program as users write them: the typed SDK, configuration, a secret, one object's output in another's input."""

import pulumi
import pulumi_kubernetes as kubernetes
from pulumi_kubernetes import Provider

config = pulumi.Config("kit")
provider = Provider("cluster", **config.require_object("provider"))
options = pulumi.ResourceOptions(provider=provider)
password = config.require_secret("password")

namespace = kubernetes.core.v1.Namespace("namespace", metadata={"name": config.require("namespace")}, opts=options)
inside = namespace.metadata["name"]
kubernetes.core.v1.Secret(
    "typed-secret", metadata={"name": "typed", "namespace": inside}, string_data={"password": password}, opts=options
)
kubernetes.core.v1.Secret(
    "plain-secret",
    metadata={"name": "plain", "namespace": inside},
    data={"password": password.apply(lambda text: __import__("base64").b64encode(text.encode()).decode())},
    opts=options,
)
settings = kubernetes.core.v1.ConfigMap(
    "settings",
    metadata={"name": "settings", "namespace": inside},
    data={"password": password, "open": "yes"},
    opts=options,
)
kubernetes.core.v1.ConfigMap(
    "copy",
    metadata={"namespace": inside, "labels": {"of": settings.metadata["name"]}},
    data={"uid": settings.metadata.uid, "phase": namespace.status.phase},
    opts=options,
)
pulumi.export("stack", pulumi.get_stack())
pulumi.export("organization", pulumi.get_organization())
pulumi.export("dry", pulumi.runtime.is_dry_run())
pulumi.export("password", password)
