"""The image layer: what the cluster builds for the tenants' jobs."""

from collections.abc import Mapping

import pulumi

from components.jobs.image_build import ImageBuild
from components.tenants.pull_secret import PullSecret
from components.tenants.tenant import Tenant
from stacks.layers.operators import OfTenant, after
from stacks.settings.platform import Settings


def build(
    settings: Settings,
    teams: Mapping[str, Tenant],
    secrets: Mapping[str, PullSecret],
    opts: pulumi.ResourceOptions,
) -> list[OfTenant]:
    """Declare the builds, each after its tenant and the accounts there; return the images' names.

    A name is known when the image is there, if it is built at once, else when it can be built.
    """
    secret = settings.pull_secret.name if settings.pull_secret else None
    registry = settings.version.registry
    return [
        OfTenant(
            image_build.tenant,
            ImageBuild(
                f"{image_build.tenant}-{image_build.name}",
                image_build.arguments(registry, secret).model_copy(update={"build_timeout": settings.timeouts.build}),
                opts=after(
                    opts, *(parts[image_build.tenant] for parts in (teams, secrets) if image_build.tenant in parts)
                ),
            ).image,
        )
        for image_build in settings.builds
    ]
