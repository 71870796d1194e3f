"""What nodes publish in ResourceSlices."""

from typing import Any

from core.apis.devices import published, whole_gpus


def slice_of(node: str, generation: int, *types: str, driver: str = "gpu.nvidia.com") -> dict[str, Any]:
    """Return a ResourceSlice with devices of these types."""
    devices = [
        {"name": f"gpu-{index}", "attributes": {"type": {"string": kind}, "productName": {"string": "NVIDIA H200"}}}
        for index, kind in enumerate(types)
    ]
    pool = {"name": node, "generation": generation, "resourceSliceCount": 1}
    return {"spec": {"driver": driver, "nodeName": node, "pool": pool, "devices": devices}}


def test_the_newest_generation_of_a_pool_counts() -> None:
    """A slice of an earlier generation, and one of another driver, is no device of the node."""
    slices = [
        slice_of("dgx01", 1, "gpu", "gpu"),
        slice_of("dgx01", 2, "gpu", "mig", "gpu", "gpu"),
        slice_of("dgx01", 1, "channel", driver="compute-domain.nvidia.com"),
        slice_of("dgx02", 1),
    ]
    by_node = published(slices)
    assert {node: whole_gpus(devices) for node, devices in by_node.items()} == {"dgx01": 3, "dgx02": 0}
    assert by_node["dgx01"][0] == {"type": "gpu", "productName": "NVIDIA H200"}
