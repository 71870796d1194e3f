"""Whether the offline plugins are needed, and the PATH and the one line that say so."""

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

OFFLINE_FOLDER = Path(__file__).resolve().parent / "bin"
_NAMES = {"language-python": "pulumi-language-python", "resource-kubernetes": "pulumi-resource-kubernetes"}


@dataclass(frozen=True)
class PluginChoice:
    """PATH for the engine, which plugins on it are the offline ones, and the line to show the user."""

    path: str
    offline: tuple[str, ...]
    announcement: str


def plugin_choice(environment: Mapping[str, str] = os.environ) -> PluginChoice:
    """PATH with the offline folder behind it, for the plugins that are not installed.

    Installed means on PATH, beside the `pulumi` that PATH finds, or in the engine's own plugin folder
    (PULUMI_HOME, else ~/.pulumi). The folder goes last, so an official plugin on PATH always comes first; when
    all are installed PATH is left as it is.
    """
    path = _without_offline(environment.get("PATH", ""))
    missing = tuple(name for name, binary in _NAMES.items() if not _installed(name, binary, path, environment))
    if not missing:
        return PluginChoice(path, (), "plugins: the official Python language host and Kubernetes provider")
    described = " and ".join(_NAMES[name] for name in missing)
    text = f"plugins: offline stand-ins for {described} (the official ones are not installed)"
    # A folder on PATH comes before the engine's own plugin folder, so it may hold only what is missing.
    folder = OFFLINE_FOLDER if len(missing) == len(_NAMES) else OFFLINE_FOLDER / missing[0]
    return PluginChoice(os.pathsep.join(filter(None, (path, str(folder)))), missing, text)


def _without_offline(path: str) -> str:
    entries = (entry for entry in path.split(os.pathsep) if entry)
    return os.pathsep.join(entry for entry in entries if OFFLINE_FOLDER not in (Path(entry), Path(entry).parent))


def _installed(name: str, binary: str, path: str, environment: Mapping[str, str]) -> bool:
    if shutil.which(binary, path=path):
        return True
    engine = shutil.which("pulumi", path=path)
    if engine and (Path(engine).resolve().parent / binary).exists():
        return True
    home = Path(environment.get("PULUMI_HOME") or Path(environment.get("HOME", "~")).expanduser() / ".pulumi")
    return any((home / "plugins").glob(f"{name}-v*/{binary}"))
