"""The offline language host: runs Python programs and policy packs for the engine (service LanguageRuntime)."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

import grpc
from google.protobuf import empty_pb2, json_format
from pulumi.runtime.proto import language_pb2 as messages
from pulumi.runtime.proto import language_pb2_grpc, plugin_pb2
from typing_extensions import override

from toolkit.engine.plugins import interpreters
from toolkit.engine.plugins.interpreters import chunks
from toolkit.engine.plugins.program import LOGGED
from toolkit.engine.plugins.serving import engine_address, serve

RUNNER = Path(__file__).with_name("program.py")


def serve_language(arguments: list[str]) -> None:
    """Serve until the engine says stop, then end every program that still runs."""
    servicer = LanguageServicer(engine_address(arguments))
    serve(
        lambda server: language_pb2_grpc.add_LanguageRuntimeServicer_to_server(servicer, server),
        on_stop=servicer.stop,
    )


def run_description(request: messages.RunRequest, engine: str) -> dict[str, Any]:
    """Return the arguments of `pulumi.runtime.Settings` for this run, as the child reads them from its command line."""
    return {
        "project": request.project,
        "stack": request.stack,
        "organization": request.organization or "organization",
        "root_directory": request.info.root_directory,
        "parallel": request.parallel,
        "monitor": request.monitor_address,
        "engine": engine,
        "dry_run": request.dryRun,
    }


def outcome(status: int) -> messages.RunResponse:
    """Return the engine's message about a program's end. `bail` says that the error is already in its log."""
    if status == 0:
        return messages.RunResponse()
    if status == LOGGED:
        return messages.RunResponse(bail=True)
    if status < 0:
        number = signal.Signals(-status).name
        return messages.RunResponse(error=f"The program was ended by {number} before it finished.")
    return messages.RunResponse(error=f"program exited with non-zero exit code: {status}")


class LanguageServicer(language_pb2_grpc.LanguageRuntimeServicer):
    """One per command of the engine. Programs and policy packs are child processes."""

    def __init__(self, engine: str) -> None:
        self._engine = engine
        self._children: set[subprocess.Popen[bytes]] = set()
        self._lock = threading.Lock()

    def stop(self) -> None:
        """End the children that still run."""
        with self._lock:
            children = list(self._children)
        for child in children:
            child.kill()

    @override
    def Handshake(
        self, request: messages.LanguageHandshakeRequest, context: grpc.ServicerContext
    ) -> messages.LanguageHandshakeResponse:
        """Take the engine's address, which may come here rather than on the command line."""
        self._engine = request.engine_address or self._engine
        return messages.LanguageHandshakeResponse()

    @override
    def GetPluginInfo(self, request: empty_pb2.Empty, context: grpc.ServicerContext) -> plugin_pb2.PluginInfo:
        """Return the version of the SDK, whose protocol this host speaks."""
        return plugin_pb2.PluginInfo(version=version("pulumi"))

    @override
    def GetRequiredPackages(
        self, request: messages.GetRequiredPackagesRequest, context: grpc.ServicerContext
    ) -> messages.GetRequiredPackagesResponse:
        """Return the resource plugins of the packages installed in the program's environment."""
        plugins = interpreters.required_plugins(self._interpreter(request.info, context))
        packages = [plugin_pb2.PackageDependency(kind="resource", **asdict(item)) for item in plugins]
        return messages.GetRequiredPackagesResponse(packages=packages)

    @override
    def Run(self, request: messages.RunRequest, context: grpc.ServicerContext) -> messages.RunResponse:
        """Run the program to its end, in its own interpreter and working directory."""
        python = self._interpreter(request.info, context)
        environment = os.environ | {
            "PULUMI_CONFIG": json.dumps(dict(request.config)),
            "PULUMI_CONFIG_SECRET_KEYS": json.dumps(list(request.configSecretKeys)),
        }
        ends, alive = os.pipe()  # closed with this process, so a program learns that the host is gone
        try:
            child = subprocess.Popen(
                [
                    *(str(python), "-u", str(RUNNER), str(ends), json.dumps(run_description(request, self._engine))),
                    *(request.info.entry_point, *request.args),
                ],
                cwd=request.pwd or request.info.program_directory,
                env=environment,
                stdin=subprocess.DEVNULL,
                pass_fds=(ends,),
            )
            with self._registered(child, context):
                return outcome(child.wait())
        finally:
            os.close(ends)
            os.close(alive)

    @override
    def RunPlugin(
        self, request: messages.RunPluginRequest, context: grpc.ServicerContext
    ) -> Iterator[messages.RunPluginResponse]:
        """Run a policy pack (or another plugin written in Python) and pass on what it prints."""
        python = self._interpreter(request.info, context)
        folder = request.info.program_directory
        command = [str(python), "-u", folder, *request.args]
        if request.kind == "analyzer":
            command = [str(python), "-u", "-m", "pulumi.policy", *request.args, folder]
        child = subprocess.Popen(
            command,
            cwd=folder if request.kind == "analyzer" else request.pwd,
            env=dict(item.split("=", 1) for item in request.env) or None,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        with self._registered(child, context):
            for stream, chunk in chunks(child):
                answer = messages.RunPluginResponse
                yield answer(stdout=chunk) if stream == "stdout" else answer(stderr=chunk)
            yield messages.RunPluginResponse(exitcode=child.wait())

    @override
    def About(self, request: messages.AboutRequest, context: grpc.ServicerContext) -> messages.AboutResponse:
        """Return the interpreter, and that this is not the official host."""
        python = self._interpreter(request.info, context)
        return messages.AboutResponse(
            executable=str(python),
            version=interpreters.python_version(python),
            metadata={"languageHost": "offline stand-in of this repository (toolkit/engine/plugins)"},
        )

    @override
    def InstallDependencies(
        self, request: messages.InstallDependenciesRequest, context: grpc.ServicerContext
    ) -> Iterator[messages.InstallDependenciesResponse]:
        """`pip install -r requirements.txt` in the program's environment, made first if it does not exist."""
        info = request.info
        folder = Path(request.directory or info.program_directory)
        virtualenv = json_format.MessageToDict(info.options).get("virtualenv")
        if virtualenv and not (Path(info.root_directory) / virtualenv).exists():
            target = str(Path(info.root_directory) / virtualenv)
            yield from self._install([sys.executable, "-m", "venv", target], folder, context)
        requirements = folder / "requirements.txt"
        if requirements.exists():
            python = str(self._interpreter(info, context))
            yield from self._install([python, "-m", "pip", "install", "-r", str(requirements)], folder, context)

    @override
    def GetProgramDependencies(
        self, request: messages.GetProgramDependenciesRequest, context: grpc.ServicerContext
    ) -> messages.GetProgramDependenciesResponse:
        """Return the packages of the environment: all, or those that no other one needs."""
        installed = interpreters.packages(self._interpreter(request.info, context))
        return messages.GetProgramDependenciesResponse(
            dependencies=[
                messages.DependencyInfo(name=package.name, version=package.version)
                for package in installed
                if request.transitiveDependencies or not package.needed
            ]
        )

    @override
    def RuntimeOptionsPrompts(
        self, request: messages.RuntimeOptionsRequest, context: grpc.ServicerContext
    ) -> messages.RuntimeOptionsResponse:
        """No questions: the options are in Pulumi.yaml."""
        return messages.RuntimeOptionsResponse()

    @override
    def Cancel(self, request: empty_pb2.Empty, context: grpc.ServicerContext) -> empty_pb2.Empty:
        """End the children: the engine cancels the command."""
        self.stop()
        return empty_pb2.Empty()

    def _install(
        self, command: list[str], folder: Path, context: grpc.ServicerContext
    ) -> Iterator[messages.InstallDependenciesResponse]:
        child = subprocess.Popen(
            command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        with self._registered(child, context):
            for _, chunk in chunks(child):
                yield messages.InstallDependenciesResponse(stdout=chunk)
            status = child.wait()
        if status != 0:
            context.abort(grpc.StatusCode.UNKNOWN, f"{' '.join(command)} ended with exit status {status}")

    def _interpreter(self, info: messages.ProgramInfo, context: grpc.ServicerContext) -> Path:
        options = json_format.MessageToDict(info.options)
        try:
            return interpreters.interpreter(info.root_directory, options)
        except interpreters.MissingInterpreterError as error:
            context.abort(grpc.StatusCode.FAILED_PRECONDITION, str(error))
            raise

    @contextmanager
    def _registered(self, child: subprocess.Popen[bytes], context: grpc.ServicerContext) -> Iterator[None]:
        """Have a child among those to stop, for as long as it runs."""
        context.add_callback(child.kill)
        with self._lock:
            self._children.add(child)
        try:
            yield
        finally:
            if child.poll() is None:
                child.kill()
                child.wait()
            with self._lock:
                self._children.discard(child)
