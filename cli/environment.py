"""The environment in which plain `pulumi` works on a stack: which tools, which plugins, which state, which secrets."""

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import yaml

from cli.errors import Problem
from cli.places import OFFLINE_PLUGINS
from cli.stack import Stack

LANGUAGE, PROVIDER = "pulumi-language-python", "pulumi-resource-kubernetes"
PASSPHRASES = ("PULUMI_CONFIG_PASSPHRASE", "PULUMI_CONFIG_PASSPHRASE_FILE")


@dataclass(frozen=True)
class Plugins:
    """Which plugins the engine will find: folders for the front of PATH, and what stands in for what is missing."""

    official: tuple[Path, ...]
    offline: tuple[str, ...]

    def __str__(self) -> str:
        """Return the one line that says which plugins are in use."""
        if not self.offline:
            return "plugins: the official ones"
        return f"plugins: offline stand-ins for {', '.join(self.offline)} (the official ones are not installed)"


def plugins(path: str, pulumi: Path, user_home: Path) -> Plugins:
    """Look for the official plugins on `path`, beside the engine and in the person's own PULUMI_HOME."""
    elsewhere = os.pathsep.join(folder for folder in path.split(os.pathsep) if Path(folder) != OFFLINE_PLUGINS)
    downloaded = user_home / "plugins" / f"resource-kubernetes-v{version('pulumi-kubernetes')}"
    places = {LANGUAGE: (pulumi.resolve().parent, user_home / "bin"), PROVIDER: (downloaded,)}
    official: list[Path] = []
    offline: list[str] = []
    for name, folders in places.items():
        if shutil.which(name, path=elsewhere):
            continue
        found = next((folder for folder in folders if (folder / name).is_file()), None)
        official.extend([found] if found else [])
        offline.extend([] if found else [name])
    return Plugins(tuple(official), tuple(offline))


def variables(stack: Stack, pulumi: Path, outer: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that plain `pulumi` needs for `stack`, on top of the `outer` environment.

    The offline plugins come last on PATH, so that official ones win. The state of a simulated cluster lives in its
    folder; of a real one nothing is set that the person has set.
    """
    path = outer.get("PATH", os.defpath)
    found = plugins(path, pulumi, Path(outer.get("PULUMI_HOME") or Path.home() / ".pulumi"))
    ahead = [] if shutil.which("pulumi", path=path) == str(pulumi) else [pulumi.parent]
    folders = [*map(str, (*ahead, *found.official)), path, *([str(OFFLINE_PLUGINS)] if found.offline else [])]
    result = {
        "PATH": os.pathsep.join(_once(os.pathsep.join(folders).split(os.pathsep))),
        "PULUMI_SKIP_UPDATE_CHECK": "true",
    }
    if stack.simulated:
        result |= {
            "KUBECONFIG": str(stack.kubeconfig),
            "PULUMI_BACKEND_URL": stack.backend.folder.as_uri(),
            "PULUMI_HOME": str(stack.backend.pulumi_home),
        }
    if stack.passphrase_file.is_file() and not any(outer.get(name) for name in PASSPHRASES):
        result["PULUMI_CONFIG_PASSPHRASE_FILE"] = str(stack.passphrase_file)
    return result


def require_passphrase(stack: Stack, environment: Mapping[str, str]) -> None:
    """Raise Problem when the stack's secrets need a passphrase and none is given."""
    content = yaml.safe_load(stack.file.read_text()) or {}
    needed = "encryptionsalt" in content and not content.get("secretsprovider", "passphrase").startswith("awskms")
    if needed and not any(name in environment for name in PASSPHRASES):
        raise Problem(
            f"the secrets of stack {stack.name} are encrypted with a passphrase, and none is given",
            f"Set {PASSPHRASES[0]}, or {PASSPHRASES[1]} to a file that holds it.",
        )


def _once(values: list[str]) -> list[str]:
    return list(dict.fromkeys(value for value in values if value))
