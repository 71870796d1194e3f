"""Pulumi projects for measurements: a stack of any settings, without a cluster or with one, and its bare twin."""

import json
import os
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import yaml

from bench import bare
from core.pulumi_values import REDACTED
from core.yaml import text as yaml_text
from stacks import environment
from stacks.environment import SECRET_KEY
from stacks.loading import settings
from stacks.loading.settings import KEY, PROJECT, Settings
from tests.engine.kit import Stack
from toolkit.render.recorder import Registration, record

ROOT = Path(__file__).resolve().parent.parent
LONGEST = 1800  # seconds for one command of the engine
_PROCESS = "process"
_TICKS = os.sysconf("SC_CLK_TCK")
_PROGRAM = f"""from pathlib import Path
import sys
program = Path({str(ROOT / "__main__.py")!r})
sys.path.insert(0, str(program.parent))
exec(compile(program.read_text(), program, "exec"), {{**globals(), "__file__": str(program)}})
"""
"""Runs this checkout's own program, without a frame more than that for each resource: the SDK reads them all."""
_TIMED = f"""import os, pathlib
pathlib.Path(__file__).with_name("{_PROCESS}").write_text(str(os.getpid()))
"""
"""What a measured program begins with: it notes its process, which is watched to the end of its interpreter."""


@dataclass(frozen=True)
class Run:
    """What one command of the engine took: seconds, and the bytes that the engine itself wrote, sockets and all."""

    seconds: float
    written: int
    peak: int
    program: float
    """Seconds of the CPU that the process of the program took; 0 where none ran to its end."""


class FailedError(Exception):
    """A command of the engine failed, which no measurement can go on after."""


def read(platform: Mapping[str, Any]) -> Settings:
    """Return the settings as the program would read them."""
    return settings.parse(platform, "the measured settings")


def recorded(platform_settings: Settings) -> tuple[Registration, ...]:
    """Return what the program registers, as the recorder sees it."""
    return record(
        lambda: environment.build(
            platform_settings, environment.placeholder_accounts(platform_settings, REDACTED), ROOT
        ),
        stack="prod",
        project=PROJECT,
    )


def project(folder: Path, platform: Mapping[str, Any], kubeconfig: Path | None = None, name: str = "prod") -> Stack:
    """Make a project below `folder` that runs this checkout's own program on settings."""
    made = Stack(folder / "project", cast(Any, None), name=name, project=PROJECT).start()
    _timed(made, _PROGRAM)
    place = platform["cluster"] | {"kubeconfig": str(kubeconfig or folder / "no-kubeconfig")}
    storage = read(platform).storage
    accounts = (
        {account: {"username": "nobody", "password": "not-a-word"} for account in storage.accounts} if storage else {}
    )
    path = made.folder / f"Pulumi.{name}.yaml"
    config = {f"{PROJECT}:{KEY}": {**platform, "cluster": place}, f"{PROJECT}:{SECRET_KEY}": accounts}
    path.write_text(yaml.safe_dump(yaml_text.read(path.read_text()) | {"config": config}))
    return made


def twin(folder: Path, registrations: tuple[Registration, ...], sdk: str) -> Stack:
    """Make a project below `folder` whose program registers the same resources as plain dictionaries (`bench.bare`)."""
    made = Stack(folder / "project", cast(Any, None), name="prod", project=PROJECT).start("objects.py")
    program = made.folder / "program"
    _timed(made, Path(bare.__file__).read_text())
    (program / "resources.json").write_text(json.dumps({"sdk": sdk, "resources": bare.described(registrations)}))
    return made


def _timed(stack: Stack, program: str) -> None:
    (stack.folder / "program" / "__main__.py").write_text(_TIMED + program)


def run(stack: Stack, *arguments: str, **variables: str) -> Run:
    """Run a command of the engine to its end and say what it took; raise FailedError when it fails."""
    noted = stack.folder / "program" / _PROCESS
    noted.unlink(missing_ok=True)
    # As users run it: compiling this checkout's modules again in every run would be measured as the program's own.
    inherited = {key: value for key, value in stack.environment().items() if key != "PYTHONDONTWRITEBYTECODE"}
    with Path(os.devnull).open() as nothing, (stack.folder / "output").open("w") as output:
        begin = time.monotonic()
        process = subprocess.Popen(
            stack.command(*arguments),
            cwd=stack.folder,
            env={**inherited, **variables},
            stdin=nothing,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        written, program = _watched(process, noted)
        _, status, used = os.wait4(process.pid, 0)
        seconds = time.monotonic() - begin
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        printed = (stack.folder / "output").read_text(errors="replace")
        raise FailedError(f"`pulumi {' '.join(arguments)}` failed:\n{printed[-3000:]}")
    return Run(seconds, written, used.ru_maxrss * 1024, program)


def _watched(process: "subprocess.Popen[bytes]", program: Path) -> tuple[int, float]:
    """Wait until a process is about to be collected; return the bytes it wrote by then, and the program's CPU time."""
    written, seconds, end = 0, 0.0, time.monotonic() + LONGEST
    counters = Path(f"/proc/{process.pid}/io")
    while os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is None:
        written = _wchar(counters) or written
        seconds = _cpu(program) or seconds
        if time.monotonic() > end:
            process.kill()
        time.sleep(0.01)
    return max(written, _wchar(counters)), seconds


def _cpu(program: Path) -> float:
    """Return the CPU seconds of the process that a file names so far, by the kernel's ticks; 0 where there is none."""
    try:
        fields = Path(f"/proc/{program.read_text()}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / _TICKS


def _wchar(counters: Path) -> int:
    try:
        lines = dict(line.split(": ") for line in counters.read_text().splitlines())
    except OSError:
        return 0
    return int(lines.get("wchar", 0))
