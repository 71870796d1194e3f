"""The image layer: what the cluster builds for the tenants' jobs."""

from collections.abc import Mapping

import pulumi

from components.image_build import ImageBuild
from components.tenant import Tenant
from stacks.operators import after
from stacks.platform import Settings


def build(settings: Settings, teams: Mapping[str, Tenant], opts: pulumi.ResourceOptions) -> list[pulumi.Output[str]]:
    """Declare the builds; return the images' names, known when they can be built."""
    secret = settings.pull_secret.name if settings.pull_secret else None
    registry = settings.version.registry
    return [
        ImageBuild(
            f"{each.tenant}-{each.name}", each.arguments(registry, secret), opts=after(opts, teams[each.tenant])
        ).image
        for each in settings.builds
    ]
