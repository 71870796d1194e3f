"""The machines of the documents, for tests that are about one of them."""

from core.hardware.gpus import ARCHITECTURES
from core.hardware.profiles import Profile, profile

DGX1_V100_16GB = profile("dgx1-v100-16gb")
DGX1_V100_32GB = profile("dgx1-v100-32gb")
DGX2H = profile("dgx2h")
DGX_A100 = profile("dgx-a100")
SYS_4029GP_TVRT = profile("sys-4029gp-tvrt")

V100_SXM2_32GB = SYS_4029GP_TVRT.gpu
A100_SXM4_40GB = DGX_A100.gpu

VOLTA, AMPERE = ARCHITECTURES["volta"], ARCHITECTURES["ampere"]


def pcie_server(*ports: str, links: tuple[tuple[int, ...], ...] = ()) -> Profile:
    """Return a server with L40S, and with a port for each text, which has the path to each GPU: `NODE NODE SYS SYS`.

    The first half of the GPUs is on NUMA node 0. `links` are NVLinks between the GPUs.
    """
    gpus = len(ports[0].split())
    halves = (list(range(gpus // 2)), list(range(gpus // 2, gpus)))
    figures = {"generation": 3, "gbs": 112, "shape": "bridged", "links": links}
    return Profile.model_validate(
        {
            "name": "pcie-server",
            "model": "a server",
            "gpus": gpus,
            "gpu": "ada/l40s",
            "nvlink": figures if links else {"shape": "none"},
            "cpu_cores": 64,
            "memory_gib": 512,
            "numa": [
                {"id": node, "cpus": f"{32 * node}-{32 * node + 31},{32 * node + 64}-{32 * node + 95}", "gpus": half}
                for node, half in enumerate(halves)
            ],
            "link_layer": "InfiniBand",
            "ports": {"count": len(ports), "rate_gbps": 200, "adapter": "ConnectX-7"},
            "hcas": [_port(number, paths.split()) for number, paths in enumerate(ports)],
            "pci_vendors": ["10de", "15b3"],
            "source": "invented",
        }
    )


def _port(number: int, paths: list[str]) -> dict[str, object]:
    nearest = next((path for path in ("PIX", "PXB", "PHB", "NODE") if path in paths), None)
    gpus = [gpu for gpu, path in enumerate(paths) if path == nearest]
    return {
        "name": f"mlx5_{number}",
        "netdev": f"ib{number}",
        "numa": int(bool(gpus) and gpus[0] >= len(paths) // 2),
        "gpus": gpus,
        "distance": nearest,
        "rate_gbps": 200,
        "distances": paths,
    }
