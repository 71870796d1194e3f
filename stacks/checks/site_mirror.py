"""Rules between the mirror and the other settings."""

from collections.abc import Iterator

from stacks.platform import Settings


def problems(settings: Settings) -> Iterator[str]:
    """Yield a channel of OpenShift that is not the stack's release's."""
    mirror = settings.site.mirror if settings.site else None
    if mirror is None or mirror.platform is None:
        return
    channel = mirror.platform.channel
    name, _, release = channel.partition("-")
    if release != settings.release:
        yield (
            f"site.mirror.platform.channel {channel} is not of release {settings.release}, which the cluster has; "
            f"write {name}-{settings.release}"
        )
