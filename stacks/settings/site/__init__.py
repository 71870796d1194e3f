"""The setting `site`: what is outside the cluster; the Pulumi program does not read it."""

from ipaddress import IPv4Address

from pydantic import Field

from core.model import Model, merged_by
from stacks.settings.site.esxi import EsxiSettings
from stacks.settings.site.hosts import HostSettings
from stacks.settings.site.mirror import MirrorSettings
from stacks.settings.site.networks import Networks
from stacks.settings.site.scale import ScaleSettings
from stacks.settings.site.scheduler import SlurmSettings
from stacks.settings.site.switches import Switch


class SiteSettings(Model):
    """Hosts, switches and other systems around the cluster, for `./hpc site`."""

    domain: str | None = Field(
        default=None,
        pattern=r"^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$",
        description="DNS domain of switches and hosts without one; None: names are written as they are",
    )
    name_servers: tuple[IPv4Address, ...] = Field(default=(), description="addresses of DNS servers for switches")
    hosts: HostSettings | None = Field(default=None, description="the GPU hosts; None: nothing is written for them")
    networks: Networks = Networks()
    haproxy: tuple[str, ...] | None = Field(
        default=None,
        description="nodes where routers may run, for HAProxy in front of the cluster's ingress; []: all workers. "
        "None: no HAProxy",
    )
    switches: tuple[Switch, ...] = Field(
        default=(),
        description="switches of the fabric, each by its dialect",
        json_schema_extra=merged_by("name"),
    )
    mirror: MirrorSettings | None = Field(
        default=None,
        description="registry with copies of the images; None: nodes pull from the registries in the images' names",
    )
    scale: ScaleSettings | None = Field(
        default=None, description="Spectrum Scale clients on the hosts; None: nothing is written for them"
    )
    esxi: EsxiSettings | None = Field(
        default=None, description="vSphere virtual machines with GPUs; None: nothing is written for them"
    )
    scheduler: SlurmSettings | None = Field(
        default=None, description="Slurm for the same machines without OpenShift; None: no Slurm files"
    )
