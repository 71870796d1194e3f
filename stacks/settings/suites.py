"""Settings of the suite that the cluster repeats by itself."""

from pydantic import Field

from components.base.model import DnsLabel
from components.jobs.performance_suite import SuiteChoices


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
