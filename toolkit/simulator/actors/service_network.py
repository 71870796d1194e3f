"""The network of Services and pods, as far as the API server uses it: it calls webhooks by Services.

The API server sends what it dials in the cluster through a proxy (`--egress-selector-config-file`), which is this. The
address of a Service leads to a ready endpoint of it, and that of a pod to what the pod's program listens on: here it is
a process on loopback. A port without a listener is refused, as on a real cluster. kwok's kubelets are on loopback.
"""

import asyncio
import ipaddress
import logging
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress

from toolkit.simulator.actors.api import ENDPOINT_SLICE, SERVICE, ApiError, Object
from toolkit.simulator.actors.runtime import Runtime
from toolkit.simulator.home import SERVICE_SOCKET
from toolkit.simulator.processes.ports import LOOPBACK

log = logging.getLogger(__name__)

SERVICE_NAME = "kubernetes.io/service-name"
CHUNK = 65536
Stream = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Refused(Exception):
    """The address has no listener; the text says why."""


class ServiceNetwork:
    """Serves the proxy on a Unix socket in the cluster's folder, in which this process runs as the API server does."""

    def __init__(self, runtime: Runtime) -> None:
        self._api = runtime.identity("service-network")
        self._listening = runtime.listening

    def start(self) -> None:
        """Start."""
        threading.Thread(target=lambda: asyncio.run(self._serve()), name="service network", daemon=True).start()

    async def _serve(self) -> None:
        server = await asyncio.start_unix_server(self._tunnel, SERVICE_SOCKET)
        async with server:
            await server.serve_forever()

    async def _tunnel(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one CONNECT, and pass on what both sides send until both have ended."""
        with suppress(OSError, asyncio.IncompleteReadError):
            request = await reader.readuntil(b"\r\n\r\n")
            host, _, port = request.split(b" ")[1].decode().rpartition(":")
            try:
                near = await asyncio.to_thread(self._loopback_port, host, int(port))
                far = await asyncio.open_connection(LOOPBACK, near)
            except (Refused, ApiError, OSError, ValueError) as error:
                log.warning("%s:%s: %s", host, port, error)
                writer.write(f"HTTP/1.1 503 connection refused: {error}\r\nContent-Length: 0\r\n\r\n".encode())
                await writer.drain()
            else:
                writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
                await pass_both_ways((reader, writer), far)
        writer.close()

    def _loopback_port(self, host: str, port: int) -> int:
        if ipaddress.ip_address(host).is_loopback:
            return port
        return self._listener(self._api.list(SERVICE)["items"], host, port)

    def port_of_service(self, name: str, port: int) -> int:
        """Return the port on loopback of a Service, by `name.namespace`; raise Refused where nothing listens."""
        services = self._api.list(SERVICE)["items"]
        for service in services:
            meta = service["metadata"]
            if f"{meta['name']}.{meta['namespace']}" == name:
                return self._listener(services, str(service["spec"].get("clusterIP")), port)
        raise Refused(f"there is no Service {name}")

    def _listener(self, services: list[Object], host: str, port: int) -> int:
        target = endpoint(services, self._slices, host, port)
        if target not in self._listening:
            raise Refused(f"no program listens on port {target[1]} of the pod with address {target[0]}")
        return self._listening[target]

    def _slices(self, namespace: str, service: str) -> list[Object]:
        slices: list[Object] = self._api.list(ENDPOINT_SLICE, namespace, f"{SERVICE_NAME}={service}")["items"]
        return slices


def endpoint(
    services: Iterable[Object], slices: Callable[[str, str], list[Object]], address: str, port: int
) -> tuple[str, int]:
    """Return where a Service's address leads, and any other address as it is; raise Refused for a Service without.

    `slices` returns the EndpointSlices of a Service, by namespace and name.
    """
    service = next((candidate for candidate in services if candidate["spec"].get("clusterIP") == address), None)
    if service is None:
        return address, port
    meta, entries = service["metadata"], service["spec"].get("ports") or []
    name = f"{meta['namespace']}/{meta['name']}"
    entry = next((candidate for candidate in entries if candidate["port"] == port), None)
    if entry is None:
        raise Refused(f"Service {name} has no port {port}")
    for slice_ in slices(meta["namespace"], meta["name"]):
        targets = [
            port_entry["port"]
            for port_entry in slice_.get("ports") or []
            if port_entry.get("name", "") == entry.get("name", "")
        ]
        ready = [member for member in slice_.get("endpoints") or [] if (member.get("conditions") or {}).get("ready")]
        if targets and ready:
            return ready[0]["addresses"][0], targets[0]
    raise Refused(f"Service {name} has no ready endpoint")


async def pass_both_ways(near: Stream, far: Stream) -> None:
    """Pass on what both sides of a connection send until both have ended, and close the far one."""
    (near_reader, near_writer), (far_reader, far_writer) = near, far
    await asyncio.gather(_pass(near_reader, far_writer), _pass(far_reader, near_writer))
    far_writer.close()


async def _pass(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(OSError):
        while chunk := await reader.read(CHUNK):
            writer.write(chunk)
            await writer.drain()
    with suppress(OSError):
        writer.write_eof()
