"""Services by their names, for real controllers outside the cluster: a SOCKS 5 proxy (RFC 1928) on loopback.

A program in a pod would ask the cluster's DNS for the name of a Service. One that runs beside the cluster sends what it
dials through this, which knows no addresses but the names of Services.
"""

import asyncio
import logging
import threading
from contextlib import suppress

from toolkit.simulator.actors.api import ApiError
from toolkit.simulator.actors.service_network import Refused, ServiceNetwork, pass_both_ways
from toolkit.simulator.processes import ports
from toolkit.simulator.processes.ports import LOOPBACK

log = logging.getLogger(__name__)

VERSION, CONNECT, DOMAIN, UNAUTHENTICATED = 5, 1, 3, 0
SUCCEEDED, REFUSED = 0, 5
BOUND = bytes([0, 1, 0, 0, 0, 0, 0, 0])
"""End of each answer: which address was bound, which no client reads."""
SUFFIX = ".svc"


class ServiceNames:
    """Serves the proxy; `port` is where."""

    def __init__(self, network: ServiceNetwork) -> None:
        self._network = network
        self.port = ports.free()

    def start(self) -> None:
        """Start."""
        threading.Thread(target=lambda: asyncio.run(self._serve()), name="service names", daemon=True).start()

    async def _serve(self) -> None:
        server = await asyncio.start_server(self._tunnel, LOOPBACK, self.port)
        async with server:
            await server.serve_forever()

    async def _tunnel(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request, and pass on what both sides send until both have ended."""
        with suppress(OSError, asyncio.IncompleteReadError):
            name, port = await _requested(reader, writer)
            try:
                near = await asyncio.to_thread(self._network.port_of_service, name.removesuffix(SUFFIX), port)
                far = await asyncio.open_connection(LOOPBACK, near)
            except (Refused, ApiError, OSError) as error:
                log.warning("%s:%s: %s", name, port, error)
                writer.write(bytes([VERSION, REFUSED]) + BOUND)
                await writer.drain()
            else:
                writer.write(bytes([VERSION, SUCCEEDED]) + BOUND)
                await pass_both_ways((reader, writer), far)
        writer.close()


async def _requested(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> tuple[str, int]:
    """Return the name and the port that a client asks for; raise OSError for what is no request of a name."""
    _, methods = await reader.readexactly(2)
    await reader.readexactly(methods)
    writer.write(bytes([VERSION, UNAUTHENTICATED]))
    version, command, _, kind = await reader.readexactly(4)
    if (version, command, kind) != (VERSION, CONNECT, DOMAIN):
        raise OSError("not a request to connect to a name")
    (length,) = await reader.readexactly(1)
    name = await reader.readexactly(length)
    return name.decode("latin-1"), int.from_bytes(await reader.readexactly(2), "big")
