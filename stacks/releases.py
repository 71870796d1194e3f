"""Which API generations and versions an OpenShift release means: the one place that knows."""

from dataclasses import dataclass
from typing import Literal

from apis import kinds
from apis.kinds import Kind

ReleaseName = Literal["4.4"]


@dataclass(frozen=True)
class Release:
    """One OpenShift release, as far as the platform depends on it."""

    name: ReleaseName
    kubernetes: str
    """Minor version of the release's Kubernetes, which decides what the API server serves."""
    node_feature_discovery: Kind
    node_feature_discovery_instance: str
    special_resource: Kind
    mpi_job: Kind
    ignition_version: Literal["2.2.0", "3.2.0"]


RELEASES: dict[ReleaseName, Release] = {
    "4.4": Release(
        name="4.4",
        kubernetes="1.17",
        node_feature_discovery=kinds.NODE_FEATURE_DISCOVERY_V1ALPHA1,
        node_feature_discovery_instance="nfd-master-server",
        special_resource=kinds.SPECIAL_RESOURCE_V1ALPHA1,
        mpi_job=kinds.MPI_JOB_V1ALPHA2,
        ignition_version="2.2.0",
    ),
}
