"""Slurm as the scheduler of machines without OpenShift: partitions, and what its jobs need of the site."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field, StringConstraints

from core.hardware import hostlist
from core.model import Model, merged_by

SlurmName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][-A-Za-z0-9_]{0,62}$")]
Hosts = Annotated[str, StringConstraints(pattern=hostlist.PATTERN, min_length=1)]
HostName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$")]
"""Name of a host without its domain, e.g. head-1."""
AbsolutePath = Annotated[str, StringConstraints(pattern=r"^/[-\w./]*$")]
SlurmImage = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][-A-Za-z0-9_.:/@]*$")]


class SlurmPartition(Model):
    """A Slurm partition."""

    name: SlurmName = Field(description="name that jobs give with --partition")
    hosts: tuple[Hosts, ...] = Field(
        default=(), description="GPU nodes without their domain, e.g. gpu[001-020]; empty: all"
    )
    max_nodes: int | None = Field(default=None, gt=0, description="nodes that a job may have; None: all")
    max_minutes: int | None = Field(default=None, gt=0, description="minutes that a job may run; None: no limit")


class SlurmSettings(Model):
    """Slurm, Enroot and Pyxis."""

    controller: HostName = Field(description="host of slurmctld, without its domain; not a GPU node")
    partitions: tuple[SlurmPartition, ...] = Field(
        min_length=1, json_schema_extra=merged_by("name"), description="the first is the default"
    )
    local_path: AbsolutePath | None = Field(
        default=None, description="folder on each node's own NVMe, for unpacked images; None: left open"
    )
    pyxis: AbsolutePath = Field(
        default="/usr/local/lib/slurm/spank_pyxis.so",
        description="path of the plugin, built for exactly this release of Slurm",
    )
    images: Mapping[str, SlurmImage] = Field(
        default={}, description="build -> its image in a registry that the nodes reach without the cluster"
    )
    volumes: Mapping[str, AbsolutePath] = Field(
        default={}, description="name of a tenant's volume -> folder with the same data on the nodes"
    )
