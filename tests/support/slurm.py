"""A real slurmctld, and a slurmd for each of a few machines, on loopback: Slurm's files as written, with an overlay."""

import os
import re
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tests.support import debian

_START = 20
"""Seconds until the nodes are idle, at most."""


class Slurm:
    """A Slurm that runs."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        self.folder = folder
        self._environment = environment

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Return what a command of Slurm printed, and its exit status."""
        return subprocess.run(
            [debian.program(arguments[0]), *arguments[1:]],
            env=self._environment,
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )


def overlaid(files: Mapping[str, str], folder: Path, ports: list[int], *, daemons: bool) -> None:
    """Write Slurm's files with what a machine without munge, Slurm's own account and folders needs instead.

    slurmd needs more on one without cgroups and the CPUs of a GPU node; slurmctld alone takes these lines as written.
    """
    name = socket.gethostname().partition(".")[0]
    options = {
        "SlurmctldHost": f"{name}(127.0.0.1)",
        "SlurmctldPort": str(ports[0]),
        "AuthType": "auth/none",
        "CredType": "cred/none",
        "SlurmUser": "root",
        "StateSaveLocation": f"{folder}/state",
        "SlurmctldPidFile": f"{folder}/slurmctld.pid",
        "PluginDir": str(_plugins()),
    }
    if daemons:
        options |= {
            "SlurmdSpoolDir": f"{folder}/spool/%n",
            "SlurmdPidFile": f"{folder}/slurmd.%n.pid",
            "ProctrackType": "proctrack/linuxproc",
            "TaskPlugin": "task/none",
            "PrologFlags": "Alloc",
            "SlurmdParameters": "config_overrides",
        }
    lines = [line for line in files["slurm.conf"].splitlines() if line.partition("=")[0] not in options]
    at = " NodeAddr=127.0.0.1" + (f" Port=[{ports[1]}-{ports[-1]}]" if daemons else "")
    lines = [line + at if line.startswith("NodeName=") else line for line in lines]
    for subfolder in ("state", "spool"):
        (folder / subfolder).mkdir()
    (folder / "slurm.conf").write_text(
        "\n".join([*(f"{key}={value}" for key, value in options.items()), *lines]) + "\n"
    )
    for gpu in range(16):
        (folder / f"nvidia{gpu}").write_text("")
    (folder / "gres.conf").write_text(files["gres.conf"].replace("/dev/nvidia", f"{folder}/nvidia"))
    for name in ("topology.conf", "cgroup.conf"):
        if name in files:
            (folder / name).write_text(files[name])


def _plugins() -> Path:
    return next((debian.folder() / "root").glob("usr/lib/*/slurm-wlm"), Path("/usr/lib/x86_64-linux-gnu/slurm-wlm"))


@contextmanager
def running(files: Mapping[str, str], folder: Path, hosts: tuple[str, ...] = ()) -> Iterator[Slurm]:
    """Run slurmctld, and slurmd of some hosts, which are then all the nodes; raise AssertionError where it ends."""
    # Ports next to each other; a process of tests has a range of its own below those that the kernel hands out.
    first = 10_000 + 16 * (os.getpid() % 1_000)
    ports = list(range(first, first + 1 + len(hosts)))
    overlaid(files, folder, ports, daemons=bool(hosts))
    programs = [str(debian.program(name).parent) for name in ("sbatch", "slurmctld")]
    base = debian.environment()
    environment = {
        **base,
        "SLURM_CONF": f"{folder}/slurm.conf",
        "PATH": os.pathsep.join([base["PATH"], *programs]),
    }
    slurm = Slurm(folder, environment)
    with ExitStack() as stack:
        controller = _started(["slurmctld", "-D", "-f", f"{folder}/slurm.conf"], folder, environment, stack)
        step = str(debian.program("slurmstepd"))
        for host in hosts:
            (folder / "spool" / host).mkdir()
            _started(["slurmd", "-D", "-N", host, "-f", f"{folder}/slurm.conf", "-d", step], folder, environment, stack)
        end = time.monotonic() + _START
        while not _ready(slurm, len(hosts)):
            log = (folder / "slurmctld.log").read_text()
            assert controller.poll() is None, log
            assert time.monotonic() < end, log
            time.sleep(0.2)
        yield slurm


def _started(
    words: list[str], folder: Path, environment: Mapping[str, str], stack: ExitStack
) -> subprocess.Popen[bytes]:
    log = stack.enter_context((folder / f"{words[0]}.log").open("a"))
    process = subprocess.Popen(
        [str(debian.program(words[0])), *words[1:]], env=environment, cwd=folder, stdout=log, stderr=log
    )
    stack.callback(process.wait)
    stack.callback(process.kill)
    return process


def _ready(slurm: Slurm, idle: int) -> bool:
    listing = slurm.run("sinfo", "--noheader", "--Node", "--format=%N %t")
    return listing.returncode == 0 and len(set(re.findall(r"^(\S+) idle$", listing.stdout, re.MULTILINE))) >= idle


def refused(files: Mapping[str, str], folder: Path) -> str:
    """Return what slurmctld prints that does not start with some files."""
    overlaid(files, folder, [9_999], daemons=False)
    done = subprocess.run(
        [debian.program("slurmctld"), "-D", "-f", f"{folder}/slurm.conf"],
        env=debian.environment(),
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
    )
    shutil.rmtree(folder / "state")
    assert done.returncode != 0
    return done.stdout + done.stderr
