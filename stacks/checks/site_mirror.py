"""Rules between the mirror and the other settings."""

from collections.abc import Iterator

from stacks.settings.platform import Settings


def problems(settings: Settings) -> Iterator[str]:
    """Yield a channel of OpenShift for a release that is not the stack's, or that no image set is written for."""
    mirror = settings.site.mirror if settings.site else None
    if mirror is None or mirror.platform is None:
        return
    if settings.version.image_mirrors != "digests-and-tags":
        yield (
            f"site.mirror.platform: release {settings.release} cannot use what oc-mirror v2 writes (4.13 and later); "
            "leave it out"
        )
        return
    channel = mirror.platform.channel
    name, _, release = channel.partition("-")
    if release != settings.release:
        yield (
            f"site.mirror.platform.channel {channel} is not of release {settings.release}, which the cluster has; "
            f"write {name}-{settings.release}"
        )
