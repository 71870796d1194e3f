"""What both plugins have in common: the gRPC server that the engine talks to, and leaving quietly."""

import os
import signal
import stat
import sys
import threading
from collections.abc import Callable
from concurrent import futures

import grpc

# The SDK's own limit (pulumi/runtime/_grpc_settings.py); gRPC's default of 4 MB is less than a large CRD set.
MESSAGE_BYTES = 400 * 1024 * 1024
# A handler that waits for an object holds a thread, and `Cancel` must still get one. Threads start as they are needed.
HANDLERS = 256
OPTIONS = [("grpc.max_receive_message_length", MESSAGE_BYTES), ("grpc.max_send_message_length", MESSAGE_BYTES)]


def engine_address(arguments: list[str]) -> str:
    """Return the engine's address: the first argument that is not a flag (the engine adds some), or nothing."""
    return next((argument for argument in arguments if not argument.startswith("-")), "")


def serve(register: Callable[[grpc.Server], None], on_stop: Callable[[], None] = lambda: None) -> None:
    """Serve on a free loopback port, print the port (the engine reads it), and stay until the engine says stop or ends.

    The engine says stop with SIGINT at the end of every command; a traceback from that would be in the user's output.
    `on_stop` is called once, before the process ends.
    """
    server = grpc.server(futures.ThreadPoolExecutor(max_workers=HANDLERS), options=OPTIONS)
    register(server)
    port = server.add_insecure_port("127.0.0.1:0")
    stopped = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stopped.set())
    _stop_with_engine(stopped.set)
    server.start()
    sys.stdout.write(f"{port}\n")
    sys.stdout.flush()
    stopped.wait()
    on_stop()
    sys.stdout.flush()
    sys.stderr.flush()
    # Handlers may still wait for objects in threads that cannot be interrupted; nothing reads their answers any more.
    os._exit(0)


def _stop_with_engine(stop: Callable[[], None]) -> None:
    """Call `stop` when standard input, a pipe from the engine, is closed: a killed engine sends no signal."""
    if not stat.S_ISFIFO(os.fstat(0).st_mode):
        return

    def watch() -> None:
        while os.read(0, 1024):
            pass
        stop()

    threading.Thread(target=watch, daemon=True).start()
