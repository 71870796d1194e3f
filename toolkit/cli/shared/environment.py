"""The environment in which plain `pulumi` works on a stack: which tools, which plugins, which state, which secrets."""

import os
import secrets
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from core import simulated
from toolkit.cli.shared import settings_copy
from toolkit.cli.shared.backends.backend import BACKEND_URL
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.paths import ROOT
from toolkit.cli.shared.stack import Stack
from toolkit.engine.plugins.locate import LANGUAGE, PROVIDER, PluginChoice, plugin_choice

SETTINGS = "PULUMI_OPTION_CONFIG_FILE"
"""The engine takes it for --config-file of every command that has this option."""
COMPRESS = "PULUMI_DIY_BACKEND_GZIP"
"""A state is written whole for every step of an update: packed it is a tenth and less on its way to a bucket."""
PASSPHRASE, PASSPHRASE_FILE = "PULUMI_CONFIG_PASSPHRASE", "PULUMI_CONFIG_PASSPHRASE_FILE"
WRONG_PASSPHRASE = f"Correct {PASSPHRASE}, or the file that {PASSPHRASE_FILE} names."
_BYTES = 32


def variables(stack: Stack, pulumi: Path, outer: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that plain `pulumi` needs for `stack`, on top of the `outer` environment.

    The state of a simulated cluster is with it, or where --backend names; of a real one it is where the settings name,
    and nothing is set that the user has set.
    """
    result = {
        "PATH": plugins(stack, pulumi, outer).path,
        "PULUMI_SKIP_UPDATE_CHECK": "true",
        # Empty as well: what an earlier `./hpc pulumi --print-env` exported would lead to another stack's cluster.
        "PULUMI_STACK": stack.name,
        SETTINGS: str(stack.copy) if stack.copied else "",
        # As --stack and --cwd of every command, ahead of the one above.
        "PULUMI_OPTION_STACK": "",
        "PULUMI_OPTION_CWD": "",
    }
    if stack.simulated:
        from toolkit.cli.shared.simulated import backend  # noqa: PLC0415 - for simulated clusters alone

        result |= {
            "KUBECONFIG": str(stack.kubeconfig),
            BACKEND_URL: backend.of_cluster(stack.home).url,
            "PULUMI_HOME": str(stack.pulumi_home),
        }
        if backend.recorded(stack.home) == backend.SIMULATED:
            result |= backend.keys(stack.home)
    elif stack.settings.state and stack.settings.state.backend:
        result[BACKEND_URL] = stack.backend_url or ""
    if result.get(BACKEND_URL, outer.get(BACKEND_URL, "")).startswith("s3:"):
        result[COMPRESS] = outer.get(COMPRESS) or "true"
    passphrase = passphrase_file(stack, outer)
    if passphrase is not None:
        result[PASSPHRASE_FILE] = passphrase
    return result


def plugins(stack: Stack, pulumi: Path, outer: Mapping[str, str]) -> PluginChoice:
    """Return the plugins that the engine gets for a stack, and the PATH on which it finds them.

    A simulated cluster has a PULUMI_HOME of its own, so PATH leads to the plugins in the user's. On a real cluster the
    stand-in of the provider is for settings that allow it.
    """
    path = outer.get("PATH", os.defpath)
    ahead = [] if shutil.which("pulumi", path=path) == str(pulumi) else [str(pulumi.parent)]
    allowed = stack.simulated or stack.settings.cluster.offline_provider
    stand_ins = (LANGUAGE, PROVIDER) if allowed else (LANGUAGE,)
    return plugin_choice({**outer, "PATH": os.pathsep.join([*ahead, path])}, stand_ins)


def has_passphrase(outer: Mapping[str, str]) -> bool:
    """Whether the user gives a passphrase; one from an earlier `./hpc pulumi --print-env` is not the user's.

    The engine takes an empty PULUMI_CONFIG_PASSPHRASE for a passphrase, and an empty name of a file for none.
    """
    return PASSPHRASE in outer or bool(outer.get(PASSPHRASE_FILE) and not _is_ours(Path(outer[PASSPHRASE_FILE])))


def passphrase_file(stack: Stack, outer: Mapping[str, str]) -> str | None:
    """Return what the variable with the file's name is to be for a stack; None to leave it as it is."""
    if has_passphrase(outer):
        return None
    if stack.keeps_secrets:
        return str(stack.own_passphrase_file)
    if stack.simulated and stack.passphrase_file.is_file():  # a real stack never has one that others can read
        return str(stack.passphrase_file)
    return ""


def make_passphrase(stack: Stack, outer: Mapping[str, str]) -> None:
    """Create the passphrase of a stack on a simulated cluster, at random, where it needs one that no one gives.

    Not where the copy of the settings has secrets already: those were encrypted with a passphrase of the user.
    """
    if not stack.keeps_secrets or has_passphrase(outer):
        return
    target = stack.own_passphrase_file
    if target.is_file() or not target.parent.is_dir():
        return
    if settings_copy.sealed(settings_copy.read(stack.copy)):
        return
    descriptor, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)  # for its owner alone
    try:
        with os.fdopen(descriptor, "w") as written:
            written.write(secrets.token_urlsafe(_BYTES))
        os.link(name, target)  # never over one that another command has just made, and never half of one
    except FileExistsError:
        pass
    finally:
        Path(name).unlink()


def require_passphrase(stack: Stack, environment: Mapping[str, str]) -> None:
    """Raise Problem when the stack's secrets need a passphrase and none, or another one, is given."""
    if stack.keeps_secrets and stack.own_passphrase_file.is_file():
        if has_passphrase(environment):
            names = " and ".join(name for name in (PASSPHRASE, PASSPHRASE_FILE) if name in environment)
            raise Problem(
                f"stack {stack.name} on cluster {stack.cluster_name} has a passphrase of its own "
                f"({stack.own_passphrase_file}), and {names} gives another",
                f"`unset {PASSPHRASE} {PASSPHRASE_FILE}`; or `./hpc sim clean --name {stack.cluster_name}` and start "
                "afresh.",
            )
        return
    where = stack.copy if stack.keeps_secrets else stack.file
    readable = has_passphrase(environment) or Path(environment.get(PASSPHRASE_FILE) or "/nowhere").is_file()
    if settings_copy.SALT in settings_copy.read(where) and not readable:
        raise Problem(
            f"the secrets of stack {stack.name} are encrypted with a passphrase, and none is given",
            f"Set {PASSPHRASE}, or {PASSPHRASE_FILE} to a file with it.",
        )


def _is_ours(path: Path) -> bool:
    folder = path.parent
    own_folder = (
        folder in (ROOT / "stacks", simulated.root() / folder.name) or (folder / simulated.STATE_FILE).is_file()
    )
    return own_folder and path.suffix == ".passphrase"
