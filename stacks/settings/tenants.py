"""Settings of tenants, their queues, and the suite of a tenant's jobs that the cluster repeats."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Self

from pydantic import Discriminator, Field, Tag, model_validator

from components.base.model import DnsLabel, DnsName, MigSize, Model, merged_by
from components.jobs.job_volumes import RESERVED
from components.jobs.performance_suite import SuiteChoices
from components.operators.kueue_operator import PodsReady
from components.operators.olm_operator import OlmSubscription
from components.queues.kueue import QueuePolicy
from components.tenants.tenant import LAST_ID, TenantNamespace
from core.hardware.placement import Share
from core.wording import duplicates
from stacks.settings.storage import DataSetSettings, DirectoryVolume, Volume
from stacks.settings.topology import TopologySettings

NAMES_OF_FORMS = ("(a number)", "(by pool)")
"""What pydantic calls the forms of a quota in the places of errors; no field is called so."""


def _form(quota: Any) -> str:
    return NAMES_OF_FORMS[isinstance(quota, Mapping)]


GpuQuota = Annotated[
    Annotated[int, Field(ge=0), Tag(NAMES_OF_FORMS[0])]
    | Annotated[dict[DnsLabel, Annotated[int, Field(ge=0)]], Tag(NAMES_OF_FORMS[1])],
    Discriminator(_form),
]
"""A number, or numbers by pool; only the form that is written is checked."""


class TenantSettings(TenantNamespace):
    """A namespace with its rights, quotas and volumes."""

    run_as_uid: int = Field(gt=0, description="owner of the data directory")
    run_as_gid: int = Field(gt=0, le=LAST_ID, description="group of the data directory")
    gpu_quota: GpuQuota = Field(
        description="GPUs that the tenant may hold; with queues that lend, its guaranteed share. With several `pools` "
        "by pool, e.g. {training: 16, inference: 8}; it has none of a pool that is left out, nor borrows any: "
        "give 0 for what others lend alone"
    )
    instance_quota: dict[MigSize, Annotated[int, Field(ge=0)]] = Field(
        default={},
        description="MIG instances that the tenant may hold, by size, e.g. {1g.5gb: 14}; omitted sizes have none",
    )
    rdma: bool = Field(
        default=True,
        description="whether its account may use the SCC with IPC_LOCK, where the fabric has RDMA; jobs of a tenant "
        "without that right exchange data over tcp",
    )
    volumes: tuple[Volume, ...] = Field(
        default=(),
        description="volumes that programs mount by name; none: the jobs' images contain all that they need",
        json_schema_extra=merged_by("name"),
    )
    data_sets: tuple[DataSetSettings, ...] = Field(
        default=(),
        description="what jobs are trained on, chosen by labels and locked ([data](../guide/data.md))",
        json_schema_extra=merged_by("name"),
    )

    @model_validator(mode="after")
    def _owner_in_range(self) -> Self:
        if self.run_as_uid not in self.uid_range:
            raise ValueError(
                f"run_as_uid {self.run_as_uid} is outside uid_range {self.uid_range}; "
                "the SCC admits only ids of the namespace's range"
            )
        return self

    @model_validator(mode="after")
    def _names_of_volumes(self) -> Self:
        names = [volume.name for volume in self.volumes]
        if repeated := duplicates(names):
            raise ValueError(f"volumes: name {repeated[0]} of {self.namespace} is given twice; give each its own")
        if reserved := sorted(RESERVED & {*names}):
            raise ValueError(
                f"volumes: {reserved[0]} of {self.namespace} is a volume that jobs have themselves; give another name"
            )
        return self

    @model_validator(mode="after")
    def _data_sets(self) -> Self:
        if repeated := duplicates(data_set.name for data_set in self.data_sets):
            raise ValueError(f"data_sets: {repeated[0]} of {self.namespace} is given twice; give each its own name")
        for data_set in self.data_sets:
            if data_set.volume not in self.all_volumes:
                volumes = ", ".join(self.all_volumes) or "none"
                raise ValueError(
                    f"data_sets.{data_set.name}: volume {data_set.volume} is none of the volumes of {self.namespace}, "
                    f"which has {volumes}; correct it, or add the volume"
                )
        return self

    @property
    def all_volumes(self) -> Mapping[str, Volume]:
        """All volumes by name."""
        return {volume.name: volume for volume in self.volumes}

    @property
    def directories(self) -> Sequence[tuple[str, DirectoryVolume]]:
        """The volumes that are directories of the data lake, each with its place."""
        return [(f"volumes.{volume.name}", volume) for volume in self.volumes if isinstance(volume, DirectoryVolume)]


class QueueSettings(QueuePolicy):
    """Kueue: a job starts when all its pods have room. Quotas follow from the tenants' gpu_quota and the machines."""

    operator: OlmSubscription
    launchers: Share = Field(
        default=Share(cpus=4, memory_gib=8), description="CPUs and GiB that each tenant has for pods without GPUs"
    )
    pods_ready: PodsReady | None = Field(
        default=None,
        description="when an admitted job gives its place back because its pods are not ready; needs version 1.5 of "
        "the operator. None: there with the defaults of `{}`; earlier versions wait for ever",
    )
    topology: TopologySettings | None = Field(
        default=None, description="topology-aware scheduling; None: Kueue counts quotas only, not what nodes have free"
    )


class PullSecretSettings(Model):
    """Registry accounts, for the pods of every tenant. The accounts themselves are secrets of the stack."""

    name: DnsName = Field(default="registries", description="name of the Secret, the same for every tenant")
    registries: tuple[str, ...] = Field(
        min_length=1,
        description="registry hosts, e.g. nvcr.io; images and build bases from other hosts are pulled without an "
        "account",
    )


class SuiteSettings(SuiteChoices):
    """Which of a tenant's jobs are repeated, and when.

    A job of the suite is one of `stages`: its GPUs, quota and queue are checked there, and a round runs one job at a
    time.
    """

    tenant: DnsLabel = Field(description="namespace of the tenant whose jobs are repeated, and where the runner is")
    stages: tuple[DnsLabel, ...] = Field(default=(), description="only workloads of these stages; none: of all")
    workloads: tuple[DnsLabel, ...] = Field(
        default=(),
        description="names of workloads, in all their layouts; none: all that verify, so neither training nor staging",
    )
