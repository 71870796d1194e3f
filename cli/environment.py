"""The environment in which plain `pulumi` works on a stack: which tools, which plugins, which state, which secrets."""

import os
import shutil
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path

import yaml

from cli.errors import Problem
from cli.stack import Stack
from simulator.plugins.locate import PluginChoice, plugin_choice

SETTINGS = "PULUMI_OPTION_CONFIG_FILE"
"""The engine takes it for --config-file of every command that has this option."""
PASSPHRASES = ("PULUMI_CONFIG_PASSPHRASE", "PULUMI_CONFIG_PASSPHRASE_FILE")


def variables(stack: Stack, pulumi: Path, outer: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that plain `pulumi` needs for `stack`, on top of the `outer` environment.

    The state of a simulated cluster lives in its folder; of a real one nothing is set that the person has set.
    """
    result = {
        "PATH": plugins(pulumi, outer).path,
        "PULUMI_SKIP_UPDATE_CHECK": "true",
        # Empty as well: what an earlier `./hpc env` exported would lead this stack to another one's cluster.
        SETTINGS: str(stack.copy) if stack.moved else "",
    }
    if stack.simulated:
        result |= {
            "KUBECONFIG": str(stack.kubeconfig),
            "PULUMI_BACKEND_URL": stack.backend.url,
            "PULUMI_HOME": str(stack.backend.pulumi_home),
        }
    if stack.passphrase_file.is_file() and not any(outer.get(name) for name in PASSPHRASES):
        result["PULUMI_CONFIG_PASSPHRASE_FILE"] = str(stack.passphrase_file)
    return result


def plugins(pulumi: Path, outer: Mapping[str, str]) -> PluginChoice:
    """Return the PATH on which the engine finds its plugins, and the line that says which ones.

    A simulated cluster has a PULUMI_HOME of its own; plugins in the person's are put on PATH, where they stay in use.
    """
    path = outer.get("PATH", os.defpath)
    ahead = [] if shutil.which("pulumi", path=path) == str(pulumi) else [pulumi.parent]
    own = Path(outer.get("PULUMI_HOME") or Path.home() / ".pulumi") / "plugins"
    downloaded = [own / f"resource-kubernetes-v{version('pulumi-kubernetes')}"]
    folders = [*ahead, *(folder for folder in downloaded if folder.is_dir() and folder not in map(Path, _split(path)))]
    return plugin_choice({**outer, "PATH": os.pathsep.join([*map(str, folders), path])})


def _split(path: str) -> list[str]:
    return path.split(os.pathsep)


def require_passphrase(stack: Stack, environment: Mapping[str, str]) -> None:
    """Raise Problem when the stack's secrets need a passphrase and none is given."""
    content = yaml.safe_load(stack.file.read_text()) or {}
    if "encryptionsalt" in content and not any(name in environment for name in PASSPHRASES):
        raise Problem(
            f"the secrets of stack {stack.name} are encrypted with a passphrase, and none is given",
            f"Set {PASSPHRASES[0]}, or {PASSPHRASES[1]} to a file that holds it.",
        )
