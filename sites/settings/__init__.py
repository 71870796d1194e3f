"""The setting `site`: what is outside the cluster; the Pulumi program does not read it."""

from pydantic import Field

from hardware.model import Model, merged_by
from sites.settings.mirror import MirrorSettings
from sites.settings.switches import Switch


class SiteSettings(Model):
    """What lies around the cluster, for `./hpc site`."""

    domain: str | None = Field(
        default=None,
        pattern=r"^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$",
        description="DNS domain of switches and hosts without one; None: names are written as they are",
    )
    name_servers: tuple[str, ...] = Field(default=(), description="addresses of DNS servers for switches (R-3.1-1)")
    switches: tuple[Switch, ...] = Field(
        default=(),
        description="switches of the fabric, each by its dialect",
        json_schema_extra=merged_by("name"),
    )
    mirror: MirrorSettings | None = Field(
        default=None, description="registry with copies of the images; None: nodes pull from where images are named"
    )
