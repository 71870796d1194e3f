"""The environment in which plain `pulumi` works on a stack: which tools, which plugins, which state, which secrets."""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from toolkit.cli.shared import passphrases
from toolkit.cli.shared.backends import choice
from toolkit.cli.shared.stack import Stack
from toolkit.engine.plugins.locate import LANGUAGE, PROVIDER, PluginChoice, plugin_choice

SETTINGS = "PULUMI_OPTION_CONFIG_FILE"
"""The engine takes it for --config-file of every command that has this option."""
COMPRESS = "PULUMI_DIY_BACKEND_GZIP"
"""A state is written whole for every step of an update: packed it is a tenth and less on its way to a bucket."""


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
            choice.URL: backend.of_cluster(stack.home).url,
            "PULUMI_HOME": str(stack.pulumi_home),
        }
        if backend.recorded(stack.home) == backend.SIMULATED:
            result |= backend.keys(stack.home)
    elif stack.settings.state and stack.settings.state.backend:
        result[choice.URL] = stack.backend_url or ""
    if result.get(choice.URL, outer.get(choice.URL, "")).startswith("s3:"):
        result[COMPRESS] = outer.get(COMPRESS) or "true"
    passphrase = passphrases.file(stack, outer)
    if passphrase is not None:
        result[passphrases.FILE] = passphrase
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
