"""Alerts about the ports of the fabric, InfiniBand and RoCE, as rules of Prometheus.

node_exporter's InfiniBand collector reads /sys/class/infiniband, where RoCE ports are, too; it runs on every node of
OpenShift. Hardware counters are metrics from node_exporter 1.12 on, and only of devices named mlx5_* or irdma*.
"""

from collections.abc import Iterator

from components.monitoring.alerts import Alert, Limits

_ACTIVE = 4
"""Logical state of a port that carries data (infiniband: 1 down, 2 init, 3 armed, 4 active)."""
_MANY_CNPS = 10000
"""Congestion packets a second, from one public guide; what is normal depends on the fabric, so it only warns."""
_PORT = "{{ $labels.device }} of {{ $labels.instance }}"


def port_alerts(limits: Limits) -> Iterator[Alert]:
    """Yield the alerts about the named adapters; none without adapters."""
    if not limits.infiniband_devices:
        return
    ours = ports(limits)
    if limits.port_states:
        yield _state(ours)
    yield from _links(ours)
    if limits.port_states and limits.port_gbps:
        yield _rate(ours, limits.port_gbps)
    if limits.hw_counters:
        yield from _losses(ours)
        if limits.roce:
            yield from _congestion(ours)


def ports(limits: Limits) -> str:
    """Return the matchers of the named adapters."""
    nodes = limits.of_nodes("instance")
    return f'{{device=~"{"|".join(limits.infiniband_devices)}"{f",{nodes}" if nodes else ""}}}'


def _state(ours: str) -> Alert:
    return Alert(
        name="InfinibandPortDown",
        expression=f"node_infiniband_state_id{ours} != {_ACTIVE}",
        lasting=300,
        severity="critical",
        summary="A port of the fabric is not active",
        description=f"Jobs that are configured to use {_PORT} fail, or go on over fewer ports.",
    )


def _links(ours: str) -> Iterator[Alert]:
    yield Alert(
        name="InfinibandLinkLost",
        expression=f"increase(node_infiniband_link_downed_total{ours}[1h]) > 0",
        severity="warning",
        summary="A link of the fabric went down",
        description=f"{_PORT} lost its link {{{{ $value }}}} times within an hour; check its cable.",
    )
    yield Alert(
        name="InfinibandErrors",
        expression=f"increase(node_infiniband_port_errors_received_total{ours}[1h]) > 0",
        severity="warning",
        summary="A port of the fabric receives broken packets",
        description=f"{_PORT} received {{{{ $value }}}} broken packets within an hour; check its cable.",
    )


def _rate(ours: str, gbps: int) -> Alert:
    planned = gbps * 1_000_000_000 // 8
    return Alert(
        name="PortSlow",
        # The limit is the profile's, our inference. A port without a link has the slowest rate, and its own alert.
        expression=f"node_infiniband_rate_bytes_per_second{ours} < {planned} "
        f"and node_infiniband_state_id{ours} == {_ACTIVE}",
        lasting=300,
        severity="warning",
        summary="A port of the fabric is slower than planned",
        description=f"{_PORT} runs at {{{{ $value }}}} bytes/s instead of {planned} ({gbps} Gb/s); check its cable.",
    )


def _losses(ours: str) -> Iterator[Alert]:
    # A lossless fabric loses nothing, so the limit is zero: our inference. Adaptive routing alone changes the
    # order of packets, so that is paired with packets that were asked for again.
    yield Alert(
        name="RdmaPacketsLost",
        expression=f"increase(node_infiniband_out_of_sequence_packets_received_total{ours}[10m]) > 0 "
        f"and increase(node_infiniband_packet_sequence_errors_total{ours}[10m]) > 0",
        severity="warning",
        summary="A lossless fabric loses packets",
        description=f"{_PORT} missed {{{{ $value }}}} packets within ten minutes; check PFC and ECN of the switches.",
    )
    yield Alert(
        name="RdmaAckTimeout",
        expression=f"increase(node_infiniband_local_ack_timeout_errors_total{ours}[10m]) > 0",
        severity="warning",
        summary="The other side of a connection did not answer in time",
        description=f"{_PORT} waited {{{{ $value }}}} times in vain within ten minutes.",
    )
    yield Alert(
        name="RdmaReceiverSlow",
        expression=f"rate(node_infiniband_out_of_buffer_drops_total{ours}[5m]) > 0",  # one public guide
        lasting=300,
        severity="info",
        summary="A receiver has no buffers for what arrives",
        description=f"{_PORT} drops {{{{ $value }}}} packets a second for lack of buffers; a few can be normal.",
    )


def _congestion(ours: str) -> Iterator[Alert]:
    yield Alert(
        name="RoceCongestionIgnored",
        expression=f"rate(node_infiniband_rp_cnp_ignored_packets_received_total{ours}[5m]) > 0",  # rdma_exporter
        lasting=300,
        severity="warning",
        summary="A port ignores congestion packets",
        description=f"{_PORT} ignores {{{{ $value }}}} of them a second; ECN is not set up there.",
    )
    yield Alert(
        name="RoceCongested",
        expression=f"rate(node_infiniband_rp_cnp_packets_handled_total{ours}[5m]) > {_MANY_CNPS}",
        lasting=300,
        severity="warning",
        summary="The fabric is congested",
        description=f"{_PORT} receives {{{{ $value }}}} notices of congestion a second.",
    )
