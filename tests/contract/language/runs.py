"""Runs a case with the real engine and whichever language host is in use."""

import json
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.contract.language.cases import Case, Outcome
from tests.contract.language.normal import messages, outputs, policies
from toolkit.engine.plugins.locate import plugin_choice
from toolkit.engine.tools import find

_TIMEOUT = 600  # seconds for one command, against hanging only; most take two
_BARE = '#!/bin/sh\nexec {python} -I -S "$@"\n'
_PACK = """
from pulumi_policy import EnforcementLevel, PolicyPack, StackValidationPolicy

def check(args, report_violation):
{body}

PolicyPack("contract", enforcement_level=EnforcementLevel.MANDATORY, policies=[
    StackValidationPolicy(name="nodes", description="enough nodes", validate=check)])
"""


@dataclass(frozen=True)
class Desk:
    """A project and its backend."""

    folder: Path

    @property
    def project(self) -> Path:
        """The folder with Pulumi.yaml."""
        return self.folder / "project"

    def start(self) -> "Desk":
        """Make an empty stack; cases work on copies of it, because this takes seconds."""
        self.project.mkdir(parents=True)
        (self.folder / "backend").mkdir()
        self._settle(Case())
        done = self._start("stack", "init", "test").communicate(timeout=_TIMEOUT)
        assert (self.project / "Pulumi.test.yaml").exists(), done
        return self

    def copy(self, folder: Path) -> "Desk":
        """Return a copy below `folder`."""
        shutil.copytree(self.folder, folder / "desk")
        return Desk(folder / "desk")

    def run(self, case: Case) -> Outcome:
        """Run the case's command to its end."""
        self._settle(case)
        events = self.folder / "events"
        logged = ("--event-log", str(events)) if case.command[0] in ("preview", "up") else ()
        pack = ("--policy-pack", "pack") if _pack(case) else ()
        process = self._start(*case.command, *pack, *logged)
        if case.interrupt:
            _wait_until(lambda: events.exists() and case.interrupt in events.read_text(errors="replace"))
            time.sleep(0.5)  # the program prints before it waits
            process.send_signal(signal.SIGINT)
        printed, _ = process.communicate(timeout=_TIMEOUT)
        lines = events.read_text(errors="replace").splitlines() if events.exists() else []
        found = [json.loads(line) for line in lines]
        return Outcome(
            failed=process.returncode != 0,
            messages=messages(found, self.project),
            policies=policies(found),
            outputs=outputs(self._state()) if case.command[0] == "up" else {},
            printed=_about(printed) if case.command[0] == "about" else None,
        )

    def _settle(self, case: Case) -> None:
        runtime = {"name": "python", "options": {"virtualenv": sys.prefix, **case.options}}
        runtime["options"] = {key: value for key, value in runtime["options"].items() if value}  # type: ignore[attr-defined]
        project = {"name": "contract", "main": "program", "runtime": runtime, **case.project}
        (self.project / "Pulumi.yaml").write_text(yaml.safe_dump(project))
        files = dict(case.files)
        if case.main is not None:
            files["program/__main__.py"] = case.main + "\n"
        if program := _pack(case):
            settings = {"version": "1.0.0", "runtime": {"name": "python", "options": {"virtualenv": sys.prefix}}}
            files["pack/PulumiPolicy.yaml"] = yaml.safe_dump(settings)
            files["pack/__main__.py"] = program
        for path, text in files.items():
            file = self.project / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(_BARE.format(python=sys.executable) if text == "BARE" else text)
            file.chmod(0o755)
        settings_file = self.project / "Pulumi.test.yaml"
        if case.config:
            content = yaml.safe_load(settings_file.read_text()) or {}
            settings_file.write_text(yaml.safe_dump({**content, "config": case.config}))

    def _start(self, *arguments: str) -> "subprocess.Popen[str]":
        named = () if arguments[:2] == ("stack", "init") else ("--stack", "test")
        return subprocess.Popen(
            [str(find("pulumi")), *arguments, *named, "--non-interactive", "--color", "never"],
            cwd=self.project,
            env=self._environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
        )

    def _environment(self) -> dict[str, str]:
        """Return the engine's environment: nothing of the developer's own Pulumi."""
        return {
            **{key: value for key, value in os.environ.items() if not key.startswith(("PULUMI_", "PYTHON"))},
            "PATH": plugin_choice().path,
            "PULUMI_HOME": str(self.folder / "home"),
            "PULUMI_BACKEND_URL": f"file://{self.folder / 'backend'}",
            "PULUMI_CONFIG_PASSPHRASE": "test",
            "PULUMI_SKIP_UPDATE_CHECK": "true",
            "PULUMI_DEBUG_COMMANDS": "true",  # the event log needs it
        }

    def _state(self) -> dict[str, Any]:
        state: dict[str, Any] = json.loads(
            (self.folder / "backend" / ".pulumi" / "stacks" / "contract" / "test.json").read_text()
        )
        return state


def _pack(case: Case) -> str:
    if case.pack is not None:
        return _PACK.format(body=textwrap.indent(case.pack, "    "))
    return case.pack_program + "\n" if case.pack_program else ""


def _about(printed: str) -> dict[str, Any]:
    """Return what `pulumi about` reports of the runtime and of its packages."""
    found = json.loads(printed[printed.index("{") :])  # warnings come first
    packages = [each["name"].replace("_", "-").lower() for each in found.get("dependencies") or ()]
    return {
        "runtime": (found.get("runtime") or {}).get("language"),
        "interpreter": Path((found.get("runtime") or {}).get("executable", "")).is_file(),
        "packages": [name for name in ("pulumi", "pulumi-kubernetes", "pydantic") if name in packages],
    }


def _wait_until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + _TIMEOUT
    while not holds():
        assert time.monotonic() < deadline, "the program did not print what the case waits for"
        time.sleep(0.05)
