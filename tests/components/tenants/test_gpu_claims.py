"""By what a tenant's pods claim GPUs."""

from components.tenants.gpu_claims import GpuClaims, GpuClaimsArgs
from tests.support.declared import declared


def test_each_number_of_gpus_has_a_template() -> None:
    """A template counts exactly what it is called after: quotas count `All` as 32, and Kueue refuses it."""
    made = declared(lambda: GpuClaims("adas", GpuClaimsArgs(namespace="adas", most=8)))
    counts = {
        item["metadata"]["name"]: item["spec"]["spec"]["devices"]["requests"][0]["exactly"]
        for item in made
        if item["kind"] == "ResourceClaimTemplate"
    }
    assert list(counts) == [f"gpus-{number}" for number in range(1, 9)]
    assert counts["gpus-8"] == {"deviceClassName": "gpu.nvidia.com", "allocationMode": "ExactCount", "count": 8}
