"""The image layer: what the cluster builds for the tenants' jobs."""

from collections.abc import Mapping

import pulumi

from components.containerfiles import containerfile
from components.image_build import Git, ImageBuild, ImageBuildArgs, Inline
from components.tenant import Tenant
from stacks.build_settings import BuildSettings
from stacks.operators import after
from stacks.platform import Settings


def build(settings: Settings, teams: Mapping[str, Tenant], opts: pulumi.ResourceOptions) -> list[pulumi.Output[str]]:
    """Declare the builds; return the images' names, known when they can be built."""
    secret = settings.pull_secret.name if settings.pull_secret else None
    return [
        ImageBuild(f"{each.tenant}-{each.name}", args(each, secret), opts=after(opts, teams[each.tenant])).image
        for each in settings.builds
    ]


def args(build: BuildSettings, pull_secret: str | None) -> ImageBuildArgs:
    """Return the arguments of a build: a recipe becomes a Containerfile of its own."""
    source = build.source
    if not isinstance(source, Inline | Git):
        source = Inline(containerfile=containerfile(source.of(build.base)))
    return ImageBuildArgs(
        namespace=build.tenant,
        image_name=build.name,
        tag=build.tag,
        base=build.base,
        source=source,
        to=build.to,
        pull_secret=pull_secret,
    )
