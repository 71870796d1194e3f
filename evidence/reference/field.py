"""Thresholds that others in the field check by (platform-facts 3.1). None of them is of the source documents.

No job is judged by them; docs/criteria.md shows them.
"""

from collections.abc import Iterator

from pydantic import Field

from hardware.model import Model


class FieldThreshold(Model):
    """One check of a public record."""

    source: str = Field(description="who checks so, and where it is written")
    hardware: str = Field(description="that it is for, in the record's words")
    check: str = Field(description="tool, and what it is run with")
    value: float
    unit: str
    at_least: bool = Field(default=True, description="whether the value is the least allowed; False: the most")


_AZURE = "azurehpc-health-checks conf/{}.conf"
_AKS = "Azure aks-rdma-infiniband"
_AKS_HARDWARE = "A100 or H100 nodes of AKS with InfiniBand"
_REDUCE = "all-reduce bus bandwidth"
_WRITE = "ib_write_bw"


def _rows(source: str, hardware: str, *checks: tuple[str, float, str]) -> Iterator[FieldThreshold]:
    for check, value, unit in checks:
        yield FieldThreshold(
            source=source, hardware=hardware, check=check.removeprefix("< "), value=value, unit=unit,
            at_least=not check.startswith("< "),
        )  # fmt: skip


FIELD: tuple[FieldThreshold, ...] = (
    *_rows(
        _AZURE.format("nd40rs_v2"), "8x V100 with NVLink, 1 EDR port",
        (f"{_REDUCE} at 8 GiB, one node", 110.0, "GB/s"), (f"{_WRITE} of 65536 B, no GPUDirect", 78, "Gb/s"),
        ("check_gpu_bw, host and GPU", 9, "GB/s"), ("link rate", 100, "Gb/s"),
    ),
    *_rows(
        _AZURE.format("nd96amsr_a100_v4"), "8x A100, 8 HDR ports",
        (f"{_REDUCE}, one node", 228, "GB/s"), (f"{_WRITE}, GPUDirect", 180, "Gb/s"),
        ("check_gpu_bw, host and GPU", 21, "GB/s"), ("check_gpu_bw, GPU and GPU", 238, "GB/s"),
    ),
    *_rows(
        _AZURE.format("nd96isr_h100_v5"), "8x H100, 8 NDR ports",
        (f"{_REDUCE}, one node", 460, "GB/s"), (f"{_WRITE}, GPUDirect", 380, "Gb/s"),
        ("check_gpu_bw, host and GPU", 48, "GB/s"), ("check_gpu_bw, GPU and GPU", 335, "GB/s"),
    ),
    *_rows(
        _AZURE.format("nd96isr_h200_v5"), "8x H200, 8 NDR ports",
        (f"{_REDUCE}, one node", 431, "GB/s"), (f"{_WRITE}, GPUDirect", 360, "Gb/s"),
    ),
    *_rows(
        _AKS, _AKS_HARDWARE,
        (f"{_REDUCE}", 180, "GB/s"), (f"{_REDUCE} over IPoIB", 3, "GB/s"), ("ibv_rc_pingpong", 7000, "Mb/s"),
        ("< ibv_rc_pingpong", 9.5, "us"), ("< ib_read_lat", 6, "us"), ("ib_read_bw, ib_write_bw", 190, "Gb/s"),
    ),
    *_rows("AICR, EKS", "H100", (_REDUCE, 300, "GB/s")),
    *_rows("AICR, GKE", "H100", (_REDUCE, 250, "GB/s")),
    *_rows("AICR, AKS", "H100", (_REDUCE, 100, "GB/s")),
    *_rows(
        "rh-ecosystem-edge/nvidia-ci", "any: whether RDMA is alive",
        (_WRITE, 10, "Gb/s"), (f"{_WRITE}, message rate", 0.1, "Mpps"),
    ),
)  # fmt: skip
"""Those with a number that is checked; what others only report is not here."""
