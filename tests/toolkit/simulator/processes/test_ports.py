"""Ports of a cluster."""

import os
import socket
from pathlib import Path

import pytest

from toolkit.engine.errors import SimulatorError
from toolkit.simulator.processes import ports
from toolkit.simulator.start import choose_ports
from toolkit.simulator.state import PortNumbers


def listening() -> socket.socket:
    """Return a socket that listens on a free port of loopback."""
    server = socket.socket()
    server.bind((ports.LOOPBACK, 0))
    server.listen()
    return server


def test_free_port_is_free_and_not_of_the_kernels() -> None:
    """A free port is below the range that the kernel gives outgoing connections."""
    low = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    port = ports.free()
    assert ports.is_free(port)
    assert port < low or low <= ports.FIRST


def test_no_free_port_is_said() -> None:
    """Where no port is free, the search ends with an error."""
    with listening() as server:
        port = server.getsockname()[1]
        assert not ports.is_free(port)
        with pytest.raises(SimulatorError, match=f"no free port between {port} and {port}"):
            ports.free(first=port, last=port)


def test_a_port_is_given_to_one_process_only() -> None:
    """A port that a process has drawn, and on which nothing listens yet, is drawn by no other process."""
    port = ports.free()
    child = os.fork()
    if child == 0:
        try:
            ports.free(first=port, last=port)
        except SimulatorError:
            os._exit(0)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert ports.is_free(port)


def test_known_ports_are_kept_and_others_replaced() -> None:
    """The API server's port never changes; other ports that are taken are replaced."""
    known = choose_ports(None, frozenset())
    assert len(set(known.model_dump().values())) == len(PortNumbers.model_fields)
    assert choose_ports(known, frozenset()) == known
    with listening() as server:
        taken = known.model_copy(update={"etcd": server.getsockname()[1]})
        assert choose_ports(taken, frozenset({"etcd"})) == taken
        moved = choose_ports(taken, frozenset())
        assert moved.etcd != taken.etcd
        assert moved.model_copy(update={"etcd": taken.etcd}) == taken
        of_before = known.model_copy(update={"admission": 0})
        assert choose_ports(of_before, frozenset({"scc-admission"})).admission > 0
        own = known.model_copy(update={"api": server.getsockname()[1]})
        with pytest.raises(SimulatorError, match=rf"port {own.api} .*pid {os.getpid()}.*sim clean"):
            choose_ports(own, frozenset())
