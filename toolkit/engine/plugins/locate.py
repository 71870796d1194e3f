"""Which plugins the engine gets: official ones wherever they are installed, else stand-ins, and the PATH for it."""

import os
import shutil
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from toolkit.engine.errors import SimulatorError

FOLDER_VARIABLE = "HPC_PLUGINS"
"""Names a folder with official plugins, ahead of every other place."""
OFFLINE_FOLDER = Path(__file__).resolve().parent / "bin"
_STAND_IN = b"it starts the offline"
"""In the first lines of the stand-ins, of whichever checkout: they are none of Pulumi's, wherever they are found."""
LANGUAGE, PROVIDER = "language-python", "resource-kubernetes"
_BINARIES = {name: f"pulumi-{name}" for name in (LANGUAGE, PROVIDER)}


@dataclass(frozen=True)
class Plugin:
    """One plugin that the engine gets; `place` is where an official one was found, empty for a stand-in."""

    name: str
    binary: Path
    place: str = ""

    @property
    def official(self) -> bool:
        """Whether it is Pulumi's own."""
        return bool(self.place)


@dataclass(frozen=True)
class PluginChoice:
    """The plugins, and the PATH on which the engine finds them first."""

    path: str
    plugins: tuple[Plugin, ...]
    """The language host and the provider; without the one that is not installed and has no stand-in here."""

    @property
    def offline(self) -> tuple[str, ...]:
        """Names of the plugins that are stand-ins."""
        return tuple(plugin.name for plugin in self.plugins if not plugin.official)

    @property
    def missing(self) -> tuple[str, ...]:
        """Names of the plugins that are not installed, and whose stand-ins may not be used."""
        return tuple(name for name in _BINARIES if all(plugin.name != name for plugin in self.plugins))

    def find(self, name: str) -> Plugin:
        """Return the plugin `name`, LANGUAGE or PROVIDER."""
        return next(plugin for plugin in self.plugins if plugin.name == name)


def plugin_choice(
    environment: Mapping[str, str] = os.environ, stand_ins: Collection[str] = (LANGUAGE, PROVIDER)
) -> PluginChoice:
    """Return the official plugins that are installed, those of `stand_ins` for others, and PATH with all of them.

    Searched in this order: the folder that HPC_PLUGINS names, PATH, the folder of the `pulumi` on PATH, and the
    engine's own plugin folder (PULUMI_HOME, else ~/.pulumi), there the version of the SDK before the newest other one.
    A stand-in is never taken for an official plugin, wherever it is, also one of another checkout or by a link.
    What is not on PATH already is put ahead of it, stand-ins behind it. Raises SimulatorError
    for a folder in HPC_PLUGINS that has none.
    """
    path = _without_offline(environment.get("PATH", ""))
    plugins = tuple(plugin for name in _BINARIES for plugin in _plugin(name, path, environment, stand_ins))
    official = [str(plugin.binary.parent) for plugin in plugins if plugin.official]
    ahead = [folder for folder in dict.fromkeys(official) if not _is_first(folder, path, plugins)]
    offline = [plugin.name for plugin in plugins if not plugin.official]
    # A folder on PATH comes before the engine's own plugin folder, so it may hold only what is missing.
    behind = [str(OFFLINE_FOLDER if len(offline) == len(_BINARIES) else OFFLINE_FOLDER / name) for name in offline[:1]]
    return PluginChoice(os.pathsep.join(filter(None, (*ahead, path, *behind))), plugins)


def _plugin(name: str, path: str, environment: Mapping[str, str], stand_ins: Collection[str]) -> Iterator[Plugin]:
    for binary, place in _candidates(name, path, environment):
        if binary.is_file() and not _is_stand_in(binary):
            yield Plugin(name, binary, place)
            return
    if name in stand_ins:
        yield Plugin(name, OFFLINE_FOLDER / name / _BINARIES[name])


def _candidates(name: str, path: str, environment: Mapping[str, str]) -> Iterator[tuple[Path, str]]:
    binary = _BINARIES[name]
    if named := environment.get(FOLDER_VARIABLE):
        folder = Path(named).expanduser().absolute()
        if not any((folder / file).is_file() for file in _BINARIES.values()):
            raise SimulatorError(
                f"{FOLDER_VARIABLE}={named} has neither of {' and '.join(_BINARIES.values())}: "
                f"name the folder with them, or unset {FOLDER_VARIABLE}."
            )
        yield folder / binary, FOLDER_VARIABLE
    if on_path := shutil.which(binary, path=path):
        yield Path(on_path).absolute(), "PATH"
    if engine := shutil.which("pulumi", path=path):
        yield Path(engine).resolve().parent / binary, "beside pulumi"
    home = Path(environment.get("PULUMI_HOME") or Path(environment.get("HOME", "~")).expanduser() / ".pulumi")
    folders = sorted((home / "plugins").glob(f"{name}-v*"), key=_preference, reverse=True)
    yield from ((folder / binary, str(home / "plugins")) for folder in folders)


def _preference(folder: Path) -> tuple[bool, list[int]]:
    """Order versions of a plugin: that of the SDK, which the engine asks for, before the newest."""
    plugin_version = folder.name.rpartition("-v")[2]
    numbers = [int(part) for part in plugin_version.partition("-")[0].split(".") if part.isdigit()]
    return plugin_version == version("pulumi-kubernetes"), numbers


def _is_first(folder: str, path: str, plugins: tuple[Plugin, ...]) -> bool:
    """Whether PATH as it is leads to every plugin of `folder`."""
    inside = [plugin.binary for plugin in plugins if str(plugin.binary.parent) == folder]
    return all(shutil.which(binary.name, path=path) == str(binary) for binary in inside)


def _without_offline(path: str) -> str:
    entries = (entry for entry in path.split(os.pathsep) if entry)
    return os.pathsep.join(
        entry for entry in entries if not any(_is_stand_in(Path(entry, file)) for file in _BINARIES.values())
    )


def _is_stand_in(binary: Path) -> bool:
    try:
        with binary.open("rb") as file:
            return _STAND_IN in file.read(512)
    except OSError:
        return False
