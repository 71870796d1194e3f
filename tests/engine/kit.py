"""A stack for one test: a project folder, a file backend, and the engine's commands on it."""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from kubernetes import client, config

from toolkit.engine.plugins.locate import plugin_choice
from toolkit.engine.tools import find

PROGRAMS = Path(__file__).with_name("programs")
TIMEOUT = 600  # seconds, against hanging only: a machine may have other work


@dataclass(frozen=True)
class Outcome:
    """How a command ended, and all its output, without the terminal's colours."""

    status: int
    text: str

    def steps(self, operation: str) -> set[str]:
        """Logical names of the resources that a preview or update reports with an operation (create, replace, ...)."""
        return set(re.findall(rf"^\s*\S+\s+\S+:\S+ (\S+) {operation}\b", self.text, re.MULTILINE))


@dataclass
class Cluster:
    """The API server under test, as kubectl would use it."""

    kubeconfig: Path
    context: str
    api: Any = field(init=False)

    def __post_init__(self) -> None:
        self.api = config.new_client_from_config(config_file=str(self.kubeconfig), context=self.context)  # type: ignore[no-untyped-call]

    @property
    def core(self) -> Any:
        """The client of the core API."""
        return client.CoreV1Api(self.api)

    def request(
        self, method: str, path: str, body: Any = None, *, manager: str = "kubectl-edit", kind: str = ""
    ) -> Any:
        """One request; changes are made under a user's field manager, unless `manager` names another."""
        headers = {"Accept": "application/json", "Content-Type": kind or "application/json"}
        query = [] if method == "GET" else [("fieldManager", manager)]
        serialized = self.api.param_serialize(
            method, path, query_params=query, header_params=headers, auth_settings=["BearerToken"]
        )
        response = self.api.call_api(*serialized[:3], body, [], 30)
        text = response.read()
        if response.status == 404:
            return None
        assert response.status < 300, text
        return json.loads(text)

    def get(self, path: str) -> Any:
        """Return the object at an URL path, None if there is none."""
        return self.request("GET", path)

    def patch(self, path: str, body: Any, manager: str = "kubectl-edit") -> Any:
        """Send a merge patch, by default under the name of `kubectl edit`."""
        return self.request("PATCH", path, body, manager=manager, kind="application/merge-patch+json")


@dataclass
class Stack:
    """One project with one stack."""

    folder: Path
    cluster: Cluster
    name: str = "test"
    project: str = "kit"
    options: dict[str, Any] = field(default_factory=dict)

    def environment(self) -> dict[str, str]:
        """Return the engine's environment: nothing of the developer's own Pulumi."""
        return {
            **{key: value for key, value in os.environ.items() if not key.startswith("PULUMI_")},
            "PATH": plugin_choice().path,
            "PULUMI_HOME": str(self.folder / "home"),
            "PULUMI_BACKEND_URL": f"file://{self.folder.parent / 'backend'}",
            "PULUMI_CONFIG_PASSPHRASE": "test",
            "PULUMI_SKIP_UPDATE_CHECK": "true",
            "KUBECONFIG": str(self.folder / "no-kubeconfig"),
        }

    def start(self, program: str = "objects.py") -> "Stack":
        """Make the project and its empty stack."""
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder.parent / "backend").mkdir(exist_ok=True)
        self.use(program)
        runtime = {"name": "python", "options": {"virtualenv": sys.prefix}}
        project = {"name": self.project, "main": "program", "runtime": runtime}
        (self.folder / "Pulumi.yaml").write_text(yaml.safe_dump(project))
        made = self.pulumi("stack", "init", self.name)
        assert made.status == 0, made.text
        return self

    def copy(self, parent: Path) -> "Stack":
        """Copy a stack, backend and all, below another folder; that takes no time, making one takes seconds."""
        shutil.copytree(self.folder.parent, parent, dirs_exist_ok=True)
        return Stack(parent / self.folder.name, self.cluster, self.name, self.project)

    def use(self, program: str) -> None:
        """Put a program of programs/ in the place of the present one."""
        target = self.folder / "program" / "__main__.py"
        target.parent.mkdir(exist_ok=True)
        shutil.copy(PROGRAMS / program, target)

    def provider(self, **settings: Any) -> dict[str, Any]:
        """Arguments of the provider, as the Python SDK spells them."""
        base = {"kubeconfig": str(self.cluster.kubeconfig), "context": self.cluster.context}
        return {**base, "cluster_identifier": "test", **self.options, **settings}

    def configure(self, *objects: dict[str, Any], provider: dict[str, Any] | None = None, **values: Any) -> None:
        """Write the stack's settings file (its first lines, which hold the key of the secrets, stay)."""
        path = self.folder / f"Pulumi.{self.name}.yaml"
        content = yaml.safe_load(path.read_text())
        settings = {"provider": provider or self.provider(), "objects": list(objects), **values}
        content["config"] = {
            **{key: value for key, value in content.get("config", {}).items() if isinstance(value, dict)},
            **{f"{self.project}:{key}": _setting(value) for key, value in settings.items()},
        }
        path.write_text(yaml.safe_dump(content))

    def command(self, *arguments: str) -> list[str]:
        """Return the command line; the stack is named, because a copied stack is not the selected one."""
        named = [] if arguments[:2] == ("stack", "init") else ["--stack", self.name]
        return [str(find("pulumi")), *arguments, *named, "--non-interactive", "--color", "never"]

    def pulumi(self, *arguments: str, timeout: float = TIMEOUT) -> Outcome:
        """Run a command of the engine to its end."""
        with self.start_pulumi(*arguments) as process:
            try:
                text, _ = process.communicate(timeout=timeout)
            except BaseException:
                process.kill()
                raise
        return Outcome(process.returncode, text)

    def start_pulumi(self, *arguments: str) -> "subprocess.Popen[str]":
        """Start a command of the engine and leave it running."""
        return subprocess.Popen(
            self.command(*arguments),
            cwd=self.folder,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def up(self, *flags: str) -> Outcome:
        """`pulumi up` without asking and without its preview."""
        return self.pulumi("up", "--yes", "--skip-preview", *flags)

    def preview(self, *flags: str) -> Outcome:
        """`pulumi preview`."""
        return self.pulumi("preview", *flags)

    def refresh(self) -> Outcome:
        """`pulumi refresh` without asking."""
        return self.pulumi("refresh", "--yes", "--skip-preview")

    def destroy(self) -> Outcome:
        """`pulumi destroy` without asking."""
        return self.pulumi("destroy", "--yes", "--skip-preview")

    def state_file(self) -> str:
        """Return the checkpoint as it is on disk."""
        backend = self.folder.parent / "backend"
        return (backend / ".pulumi" / "stacks" / self.project / f"{self.name}.json").read_text()

    def resources(self) -> dict[str, dict[str, Any]]:
        """Return the resources in the state, by logical name."""
        state = json.loads(self.state_file())
        found = state["checkpoint"]["latest"].get("resources", [])
        return {item["urn"].rpartition("::")[2]: item for item in found}

    def outputs(self) -> dict[str, Any]:
        """Return the stack's outputs as they are in the state (secrets encrypted)."""
        found: dict[str, Any] = self.resources()[f"{self.project}-{self.name}"].get("outputs", {})
        return found


def _setting(value: Any) -> Any:
    return value if isinstance(value, str) else json.dumps(value)


def thing(name: str, token: str, fields: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Describe an object for programs/objects.py: logical name, type token, fields; `options`, `secret`."""
    return {"name": name, "token": token, "fields": fields, **more}


def config_map(name: str, namespace: str, data: dict[str, str], **more: Any) -> dict[str, Any]:
    """Describe a ConfigMap for programs/objects.py."""
    fields = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": namespace}, "data": data}
    return thing(name, "kubernetes:core/v1:ConfigMap", fields, **more)


def widget(name: str, namespace: str, spec: dict[str, Any], *, version: str = "v1", **more: Any) -> dict[str, Any]:
    """Describe a custom object for programs/objects.py; `annotations` among `more` go into its metadata."""
    annotations = more.pop("annotations", None)
    # A null is a change for ever: the official provider compares it with the field that is not there.
    metadata = {"name": name, "namespace": namespace, **({"annotations": annotations} if annotations else {})}
    fields = {"apiVersion": f"kit.example.com/{version}", "kind": "Widget", "metadata": metadata, "spec": spec}
    return thing(name, f"kubernetes:kit.example.com/{version}:Widget", fields, **more)


def wait_until(test: Callable[[], bool], seconds: float = 300) -> None:
    """Wait until the test holds; fails the test when it does not in time."""
    end = time.monotonic() + seconds
    while not test():
        assert time.monotonic() < end, f"not true within {seconds} s"
        time.sleep(0.05)
