"""node_exporter's InfiniBand collector, which reads the ports of RoCE, too.

Source: prometheus/node_exporter, collector/infiniband_linux.go at v0.18.1 (OpenShift 4.4) and v1.10 (OpenShift 4.21).
The older one has no states and no rate. Hardware counters came with 1.12, which no simulated OpenShift has.
"""

from collections.abc import Callable, Iterator

from toolkit.simulator.metrics.text import Family, Sample
from toolkit.simulator.performance.job import Machine
from toolkit.simulator.performance.ports import RATE_WITHOUT_LINK, in_order

_STATES = {
    "state_id": ("state of the port (1: down, 4: active)", 4, 1),
    "physical_state_id": ("physical state of the port (2: polling, 5: link up)", 5, 2),
}
"""Name -> meaning, value of a port with a link and without."""
_NEVER = {
    "link_error_recovery_total": "times that the link recovered from an error",
    "port_discards_transmitted_total": "outbound packets that were discarded",
    "port_errors_received_total": "broken packets that were received",
    "port_transmit_wait_total": "ticks in which data waited",
}
"""Counters that stay 0: nothing of the simulated cluster changes them."""
BYTES = 1_000_000_000 // 8
"""A second, of one Gb/s."""


def families(
    machine: Machine, *, states: bool, lost: Callable[[str], float], carried: Callable[[str], float]
) -> Iterator[Family]:
    """Yield the metrics of a machine's ports.

    `lost` and `carried` give by HCA how often its link went down, and the bytes that it sent, which it also received.
    """
    hcas = in_order(machine.hcas)

    def family(name: str, kind: str, text: str, value: Callable[[str], float]) -> Family:
        samples: tuple[Sample, ...] = tuple(({"device": hca.name, "port": "1"}, value(hca.name)) for hca in hcas)
        return Family(f"node_infiniband_{name}", "gauge" if kind == "gauge" else "counter", text, samples)

    if states:
        for name, (text, up, down) in _STATES.items():
            yield family(name, "gauge", text, lambda hca, up=up, down=down: up if machine.is_up(hca) else down)  # type: ignore[misc]
        rates = {hca.name: hca.rate_gbps for hca in hcas}
        yield family(
            "rate_bytes_per_second",
            "gauge",
            "rate of the port",
            lambda hca: BYTES * (rates[hca] if machine.is_up(hca) else RATE_WITHOUT_LINK),
        )
    yield family("link_downed_total", "counter", "times that the link went down", lost)
    for side in ("received", "transmitted"):
        yield family(f"port_data_{side}_bytes_total", "counter", f"bytes that were {side}", carried)
    for name, text in _NEVER.items():
        yield family(name, "counter", text, lambda _: 0)
