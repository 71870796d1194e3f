"""Which ports are rails, of single ports with their properties."""

from typing import Any

import pytest

from toolkit.cli.hardware.rails import Port, Rails, choose

_IB: dict[str, Any] = {"has_interface": True, "link_layer": "InfiniBand", "rate_gbps": 400}
_ETHERNET: dict[str, Any] = {**_IB, "link_layer": "Ethernet"}


def _port(name: str, paths: str, **properties: Any) -> Port:
    return Port(name, tuple(paths.split()), **properties)


def _names(found: Rails) -> list[str]:
    return [port.name for port in found.ports]


def test_a_storage_card_below_the_same_switch_is_none() -> None:
    """Of a GPU's near ports those that are slower, or Ethernet beside InfiniBand, are not rails, even at PIX."""
    ports = [
        _port("mlx5_0", "PXB NODE", **_IB),
        _port("mlx5_1", "PIX NODE", **_ETHERNET),
        _port("mlx5_2", "PIX NODE", **{**_IB, "rate_gbps": 100}),
        _port("mlx5_3", "NODE PXB", **_IB),
    ]
    found = choose(ports, 2)
    assert _names(found) == ["mlx5_0", "mlx5_3"]
    assert found.no_rails == {
        "mlx5_1": "Ethernet beside InfiniBand",
        "mlx5_2": "slower than other ports that are as near to GPUs",
    }


def test_devices_without_an_interface_and_virtual_functions_are_none() -> None:
    """A bridge, which has no interface, and virtual functions are not rails wherever they are."""
    ports = [
        _port("mlx5_0", "PIX", has_interface=False),
        _port("mlx5_1", "PXB", **_IB),
        _port("mlx5_2", "PIX", virtual=True, **_IB),
    ]
    found = choose(ports, 1)
    assert _names(found) == ["mlx5_1"]
    assert found.no_rails == {"mlx5_0": "no network interface", "mlx5_2": "virtual function"}


def test_pix_is_nearer_than_pxb() -> None:
    """Two ports below a pair of GPUs are one rail each, that of the GPU at PIX (sglang 10070)."""
    found = choose([_port("mlx5_0", "PIX PXB"), _port("mlx5_1", "PXB PIX")], 2)
    assert [(port.name, port.gpus, port.nearest) for port in found.ports] == [
        ("mlx5_0", (0,), "PIX"),
        ("mlx5_1", (1,), "PIX"),
    ]


def test_two_ports_of_each_gpu_are_rails() -> None:
    """Where each GPU has two ports at the same distance, both are rails (vllm 39620)."""
    found = choose([_port(f"mlx5_{n}", "PXB NODE" if n < 2 else "NODE PXB") for n in range(4)], 2)
    assert _names(found) == ["mlx5_0", "mlx5_1", "mlx5_2", "mlx5_3"]


def test_roce_rails_beside_infiniband_storage() -> None:
    """Ethernet ports next to every GPU are the rails where InfiniBand is far from all of them."""
    found = choose([_port("mlx5_0", "PIX", **_ETHERNET), _port("mlx5_1", "NODE", **_IB)], 1)
    assert _names(found) == ["mlx5_0"]


def test_ports_over_host_bridges_are_rails_if_they_are_alike() -> None:
    """Where no port is at PIX or PXB of a GPU, all that are alike are rails, also those at SYS of every GPU."""
    found = choose([_port("mlx5_0", "SYS NODE"), _port("mlx5_1", "PHB SYS")], 2)
    assert [(port.name, port.gpus, port.distance) for port in found.ports] == [
        ("mlx5_1", (0,), "PHB"),
        ("mlx5_0", (1,), "NODE"),
    ]
    assert _names(choose([_port("mlx5_0", "SYS SYS")], 2)) == ["mlx5_0"]
    assert _names(choose([_port("mlx5_0", "SYS SYS", **_IB), _port("mlx5_1", "SYS SYS", **_IB)], 2)) == [
        *("mlx5_0", "mlx5_1"),
    ]


def test_a_slow_port_over_host_bridges_is_none() -> None:
    """Of ports that are no GPU's neighbours the slower ones are for something else."""
    found = choose([_port("mlx5_0", "NODE SYS", **_IB), _port("mlx5_1", "NODE SYS", **{**_IB, "rate_gbps": 25})], 2)
    assert (_names(found), list(found.no_rails)) == (["mlx5_0"], ["mlx5_1"])


def test_with_grace_processors_the_matrix_decides_nothing() -> None:
    """Ports at SYS of every GPU are left open where NVLink-C2C joins GPUs and processors."""
    found = choose([_port("mlx5_0", "SYS SYS", **_IB)], 2, on_grace=True)
    assert (found.ports, "no port is at PIX or PXB" in (found.undecided or "")) == ((), True)


@pytest.mark.parametrize(
    ("ports", "part"),
    [
        ([_port("mlx5_0", "SYS SYS"), _port("mlx5_1", "SYS SYS")], "or on its NUMA node, and link layers and rates"),
        ([_port("mlx5_0", "NODE SYS"), _port("mlx5_1", "SYS SYS")], "different distances"),
        ([_port("mlx5_0", "NODE SYS", **_ETHERNET), _port("mlx5_1", "SYS NODE")], "different link layers"),
        (
            [_port("mlx5_0", "NODE SYS", chip="MT4129"), _port("mlx5_1", "SYS NODE", chip="MT4125")],
            "different adapters",
        ),
        (
            [_port(f"mlx5_{n}", "NODE SYS", card="a") for n in range(2)] + [_port("mlx5_2", "SYS NODE", card="b")],
            "different numbers of ports to a card",
        ),
        ([_port("mlx5_0", "PIX SYS"), _port("mlx5_1", "NODE NODE")], "next to GPU 1, and mlx5_1"),
        ([_port("mlx5_0", "PIX SYS", **_ETHERNET), _port("mlx5_1", "SYS NODE", **_IB)], "next to GPU 1, and mlx5_1"),
        ([_port(f"mlx5_{n}", "PIX SYS" if n else "SYS PIX") for n in range(3)], "GPU 0: 2, GPU 1: 1"),
        (
            [_port("mlx5_0", "PIX SYS", **_IB), _port("mlx5_1", "SYS PIX", has_interface=False)],
            "only mlx5_1: no network",
        ),
        ([_port("mlx5_0", "PIX SYS", **_IB), _port("mlx5_1", "SYS PIX", **_ETHERNET)], "only mlx5_1: Ethernet beside"),
        ([Port("mlx5_0", ("PIX", None))], "does not give the path"),
        ([_port(f"mlx5_{n}", "PIX PIX", card="mlx5_0") for n in range(18)], "18 ports are at PIX of each other"),
    ],
)
def test_what_cannot_be_decided_is_left_open(ports: list[Port], part: str) -> None:
    """No rails are offered, with the reason, where the nearest ports may not be all that are meant."""
    found = choose(ports, 2)
    assert found.ports == ()
    assert part in (found.undecided or "")
