"""Settings of teams and of their queues."""

from typing import Self

from pydantic import Field, model_validator

from components.kueue import QueuePolicy
from components.model import DnsName, Model
from components.olm_operator import OlmOperatorArgs
from components.tenant import LAST_ID, TenantNamespace
from hardware.placement import Share
from stacks.storage_settings import Data


class TenantSettings(TenantNamespace):
    """One team."""

    run_as_uid: int = Field(gt=0, description="owner of the data directory (R-4.3-6)")
    run_as_gid: int = Field(gt=0, le=LAST_ID, description="group of the data directory (R-4.3-6)")
    gpu_quota: int = Field(
        ge=0, description="GPUs that the team may hold; with queues that lend, what it has for certain"
    )
    data: Data | None = Field(default=None, description="None: jobs bring all that they need in their image")

    @model_validator(mode="after")
    def _owner_in_range(self) -> Self:
        if self.run_as_uid not in self.uid_range:
            raise ValueError(
                f"run_as_uid {self.run_as_uid} is outside uid_range {self.uid_range}; "
                "the SCC admits only ids of the namespace's range"
            )
        return self


class QueueSettings(QueuePolicy):
    """Kueue: a job starts when all its pods have room. Quotas follow from the tenants' gpu_quota and the machines."""

    operator: OlmOperatorArgs
    cert_manager: OlmOperatorArgs | None = Field(
        default=None, description="cert-manager, which Kueue needs; None: the cluster has it already"
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
