"""The line that says which plugins an update uses, with their versions as they report them themselves."""

import subprocess
import threading

import grpc
from google.protobuf import empty_pb2
from pulumi.runtime.proto import language_pb2_grpc, provider_pb2_grpc

from toolkit.engine.plugins.locate import LANGUAGE, Plugin, PluginChoice

_PATIENCE = 20.0
"""Seconds for a plugin to start and answer; the provider took half a second."""
_UNKNOWN = "of unknown version"
_NOWHERE = "127.0.0.1:1"
"""Given for the engine's address, which a plugin does not call before it gets a request."""


def announcement(choice: PluginChoice) -> str:
    """Return one line: official plugins with version and place, or stand-ins and how to get the official ones."""
    official = [
        f"{plugin.binary.name} {reported_version(plugin)} ({plugin.place})"
        for plugin in choice.plugins
        if plugin.official
    ]
    parts = [f"official {' and '.join(official)}"] if official else []
    if choice.offline:
        names = " and ".join(f"pulumi-{name}" for name in choice.offline)
        parts.append(f"offline stand-ins for {names} (official ones are not installed; README says how)")
    return f"plugins: {'; '.join(parts)}"


def reported_version(plugin: Plugin) -> str:
    """Return the version that a plugin reports; `of unknown version` for one that does not answer."""
    command, quiet = [str(plugin.binary), _NOWHERE], subprocess.DEVNULL
    with subprocess.Popen(command, stdin=quiet, stdout=subprocess.PIPE, stderr=quiet, text=True) as process:
        late = threading.Timer(_PATIENCE, process.kill)
        late.start()
        try:
            port = process.stdout.readline().strip() if process.stdout else ""
            if not port:  # it has exited
                return _UNKNOWN
            with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
                info = _stub(plugin, channel).GetPluginInfo(empty_pb2.Empty(), timeout=_PATIENCE, wait_for_ready=True)
                return info.version.removeprefix("v") or _UNKNOWN
        except grpc.RpcError:
            return _UNKNOWN
        finally:
            late.cancel()
            process.kill()


def _stub(
    plugin: Plugin, channel: grpc.Channel
) -> language_pb2_grpc.LanguageRuntimeStub | provider_pb2_grpc.ResourceProviderStub:
    if plugin.name == LANGUAGE:
        return language_pb2_grpc.LanguageRuntimeStub(channel)
    return provider_pb2_grpc.ResourceProviderStub(channel)
