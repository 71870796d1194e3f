"""A provider process, started and spoken to as the engine does."""

import os
import subprocess
import tempfile
import threading
from collections import defaultdict
from collections.abc import Mapping
from concurrent import futures
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
from google.protobuf import empty_pb2
from pulumi.runtime.proto import engine_pb2, engine_pb2_grpc, provider_pb2, provider_pb2_grpc
from typing_extensions import override

from tests.contract.provider.wire import encode
from toolkit.engine.plugins.locate import PROVIDER, plugin_choice

SECONDS = 100
_MESSAGE_BYTES = 400 * 1024 * 1024
_OPTIONS = [("grpc.max_receive_message_length", _MESSAGE_BYTES), ("grpc.max_send_message_length", _MESSAGE_BYTES)]
_SEVERITIES = {1: "info", 2: "warning", 3: "error"}


@dataclass(frozen=True)
class Binary:
    """The provider that the engine would take, and whether it is the official one."""

    path: Path
    official: bool


def provider_in_use(environment: Mapping[str, str] = os.environ) -> Binary:
    """Return the provider that the engine would take here."""
    plugin = plugin_choice(environment).find(PROVIDER)
    return Binary(plugin.binary, plugin.official)


class Engine(engine_pb2_grpc.EngineServicer):
    """The engine's side: keeps what plugins say of each resource. Passing texts (progress) are not kept."""

    def __init__(self) -> None:
        self._said: dict[str, set[str]] = defaultdict(set)
        self._lock = threading.Lock()
        self._server = grpc.server(futures.ThreadPoolExecutor(max_workers=32), options=_OPTIONS)
        engine_pb2_grpc.add_EngineServicer_to_server(self, self._server)
        self.address = f"127.0.0.1:{self._server.add_insecure_port('127.0.0.1:0')}"
        self._server.start()

    @override
    def Log(self, request: engine_pb2.LogRequest, context: grpc.ServicerContext) -> empty_pb2.Empty:
        """Keep a message."""
        if not request.ephemeral and request.severity in _SEVERITIES:
            with self._lock:
                self._said[request.urn].add(f"{_SEVERITIES[request.severity]}: {request.message}")
        return empty_pb2.Empty()

    def take(self, urn: str) -> list[str]:
        """Return, and forget, what was said of a resource."""
        with self._lock:
            return sorted(self._said.pop(urn, ()))

    def stop(self) -> None:
        """Stop listening."""
        self._server.stop(None)


class Plugin:
    """One running provider. `settings` are its arguments as a program gives them, `environment` is added to its own."""

    def __init__(self, binary: Path, engine: Engine, environment: Mapping[str, str]) -> None:
        self.binary = binary
        self._home = tempfile.TemporaryDirectory(prefix="hpc-contract-")
        kept = {key: os.environ[key] for key in ("PATH", "LANG", "TMPDIR") if key in os.environ}
        self._process = subprocess.Popen(
            [str(binary), engine.address],
            env={**kept, "HOME": self._home.name, "KUBECONFIG": f"{self._home.name}/none", **environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        assert self._process.stdout is not None
        port = self._process.stdout.readline().decode().strip()
        assert port.isdigit(), f"{binary} printed {port!r} where the engine expects its port"
        self._channel = grpc.insecure_channel(f"127.0.0.1:{port}", options=_OPTIONS)
        self._stub = provider_pb2_grpc.ResourceProviderStub(self._channel)
        try:
            self.call(
                "Handshake",
                provider_pb2.ProviderHandshakeRequest(engine_address=engine.address, configure_with_urn=True),
            )
        except grpc.RpcError as error:  # the engine does without, too
            if error.code() != grpc.StatusCode.UNIMPLEMENTED:
                raise

    def call(self, method: str, request: Any, seconds: float = SECONDS) -> Any:
        """Send one request; raises grpc.RpcError."""
        return getattr(self._stub, method)(request, timeout=seconds)

    def version(self) -> str:
        """Return the version that the provider reports."""
        return str(self.call("GetPluginInfo", empty_pb2.Empty()).version)

    def schema(self) -> str:
        """Return the provider's schema."""
        return str(self.call("GetSchema", provider_pb2.GetSchemaRequest()).schema)

    def configure(self, settings: Mapping[str, Any]) -> Any:
        """Configure the provider; booleans go as text, as the engine sends them."""
        texts = {key: str(value).lower() if isinstance(value, bool) else value for key, value in settings.items()}
        return self.call(
            "Configure",
            provider_pb2.ConfigureRequest(
                variables={f"kubernetes:config:{key}": value for key, value in texts.items() if isinstance(value, str)},
                args=encode(texts),
                acceptSecrets=True,
                acceptResources=True,
                sends_old_inputs=True,
                sends_old_inputs_to_delete=True,
            ),
        )

    def stop(self) -> None:
        """End the process."""
        self._channel.close()
        self._process.kill()
        self._process.communicate()
        self._home.cleanup()
