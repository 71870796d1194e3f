"""Programs of Debian that tests run on written files: promtool, opensm, slurmctld and others, unpacked without root.

`make debian` downloads the packages with what they depend on, and unpacks them into the cache that the simulated
cluster's tools share. apt keeps its lists and archives there, too, so neither root nor the machine's own lists are
needed. Programs that are on PATH already are used as they are.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from hashlib import sha256
from pathlib import Path

import pytest

from core.files import locked
from toolkit.engine.tools import cache_folder

PACKAGES = (
    "haproxy",
    "ibsim-utils",
    "infiniband-diags",
    "opensm",
    "prometheus",
    "prometheus-alertmanager",
    "shellcheck",
    "slurm-client",
    "slurmctld",
    "slurmd",
)
"""What `make debian` unpacks: one list for all tests."""


def program(name: str) -> Path:
    """Return where a program is; without it the test is a stated skip, under CI a failure."""
    path = shutil.which(name, path=environment()["PATH"])
    if path is None:
        pytest.skip(f"needs {name}: `make debian` unpacks it where apt-get is; elsewhere install it yourself")
    return Path(path)


@cache
def environment() -> Mapping[str, str]:
    """Return variables with which the unpacked programs find each other and their libraries."""
    root = folder() / "root"
    libraries = [str(path) for path in (*root.glob("usr/lib/*-linux-gnu"), *root.glob("usr/lib/*-linux-gnu/slurm-wlm"))]
    unpacked = [str(root / name) for name in ("usr/sbin", "usr/bin", "sbin", "bin")]
    # Last, so that what the machine has installed is used; Debian's sbin is on no user's PATH.
    path = [*os.environ.get("PATH", "").split(os.pathsep), "/usr/sbin", "/sbin", *unpacked]
    before = [value for value in (os.environ.get("LD_LIBRARY_PATH"),) if value]
    return os.environ | {
        "PATH": os.pathsep.join(path),
        "LD_LIBRARY_PATH": os.pathsep.join([*before, *libraries]),
    }


def folder() -> Path:
    """Return where the packages are unpacked; another list of packages has another folder."""
    return cache_folder() / f"debian-{sha256(' '.join(PACKAGES).encode()).hexdigest()[:12]}"


def unpack() -> None:
    """Download the packages with all that they depend on and the machine lacks, and unpack them; once.

    Raises CalledProcessError where apt-get or dpkg fails.
    """
    target = folder()
    with locked(cache_folder() / "debian.lock", on_busy=lambda _: None):
        if (target / "root").exists():
            return
        shutil.rmtree(target, ignore_errors=True)
        for subfolder in ("lists/partial", "cache/archives/partial"):
            (target / subfolder).mkdir(parents=True)
        apt = (
            "apt-get", "-qq", "-y",
            "-o", f"Dir::State::lists={target / 'lists'}",
            "-o", f"Dir::Cache={target / 'cache'}",
            "-o", "Debug::NoLocking=1",
            "-o", "APT::Sandbox::User=",
        )  # fmt: skip
        _run(*apt, "update")
        _run(*apt, "install", "--download-only", "--no-install-recommends", *PACKAGES)
        unpacked = target / "unpacked"
        unpacked.mkdir()
        for archive in sorted((target / "cache/archives").glob("*.deb")):
            _run("dpkg", "-x", str(archive), str(unpacked))
        # Debian's alternatives, which make a name such as slurmctld of slurmctld-wlm, are set up by an installation.
        for real in unpacked.glob("usr/sbin/*-wlm"):
            real.with_name(real.name.removesuffix("-wlm")).symlink_to(real.name)
        for unused in (target / "lists", target / "cache", unpacked / "usr/share"):  # documentation and scripts: 228 MB
            shutil.rmtree(unused)
        unpacked.rename(target / "root")


def _run(*arguments: str) -> None:
    subprocess.run(arguments, check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    if shutil.which("apt-get") is None:
        print("- no apt-get: tests that need programs of Debian are skipped")  # noqa: T201 - for the user of make
        sys.exit()
    unpack()
