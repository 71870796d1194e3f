"""Settings of teams and of their queues."""

from typing import Literal, Self

from pydantic import Field, model_validator

from components.model import DnsLabel, DnsName, Model
from components.olm_operator import OlmOperatorArgs
from components.tenant import LAST_ID, ContainerResources, IdRange, McsLabel
from hardware.placement import Share
from stacks.storage_settings import Data


class TenantSettings(Model):
    """One team."""

    namespace: DnsLabel = Field(description="its name, which jobs and builds give as `tenant`")
    uid_range: IdRange
    mcs: McsLabel = Field(description="SELinux level of its pods, unique per tenant")
    run_as_uid: int = Field(gt=0, description="owner of the data directory (R-4.3-6)")
    run_as_gid: int = Field(gt=0, le=LAST_ID, description="group of the data directory (R-4.3-6)")
    gpu_quota: int = Field(
        ge=0, description="GPUs that the team may hold; with queues that lend, what it has for certain"
    )
    data: Data | None = Field(default=None, description="None: jobs bring all that they need in their image")
    container_resources: ContainerResources | None = Field(
        default=None, description="of containers that do not say what they need"
    )
    isolated: bool = Field(default=False, description="refuse connections from other namespaces on the pod network")
    reachable_from: tuple[DnsLabel, ...] = Field(
        default=(), description="namespaces that may connect nevertheless, e.g. of monitoring"
    )

    @model_validator(mode="after")
    def _owner_in_range(self) -> Self:
        if self.run_as_uid not in self.uid_range:
            raise ValueError(
                f"run_as_uid {self.run_as_uid} is outside uid_range {self.uid_range}; "
                "the SCC admits only ids of the namespace's range"
            )
        return self


class QueueSettings(Model):
    """Kueue: a job starts when all its pods have room. Quotas follow from the tenants' gpu_quota and the machines."""

    operator: OlmOperatorArgs
    cert_manager: OlmOperatorArgs | None = Field(
        default=None, description="cert-manager, which Kueue needs; None: the cluster has it already"
    )
    queue: DnsLabel = Field(default="jobs", description="name of every tenant's queue")
    cohort: DnsName | None = Field(default=None, description="tenants lend each other what is idle; None: they do not")
    reclaim: Literal["Never", "LowerPriority", "Any"] = Field(
        default="Never", description="whose jobs end when a tenant wants back what it lent"
    )
    strategy: Literal["BestEffortFIFO", "StrictFIFO"] = Field(
        default="BestEffortFIFO",
        description="whether a job that has no room lets later ones pass (BestEffortFIFO) or holds them up",
    )
    launchers: Share = Field(
        default=Share(cpus=4, memory_gib=8), description="CPUs and GiB that each tenant has for pods without GPUs"
    )


class PullSecretSettings(Model):
    """Accounts of registries, for the pods of every tenant. The accounts themselves are secrets of the stack."""

    name: DnsName = Field(default="registries", description="of the Secret, the same for every tenant")
    registries: tuple[str, ...] = Field(
        min_length=1,
        description="hosts, e.g. nvcr.io; images of others, and bases of builds there, are pulled without an account",
    )
