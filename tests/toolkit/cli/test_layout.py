"""Where things are in toolkit/cli/: a module or a folder for each command, and what they share."""

from toolkit.cli.app import COMMANDS
from toolkit.cli.shared.paths import ROOT

CLI = ROOT / "toolkit" / "cli"
_OTHERS = {"__init__", "__main__", "app", "shared"}


def test_a_module_or_a_folder_for_each_command() -> None:
    """A command's code is found by the command's name."""
    found = {
        path.stem for path in CLI.iterdir() if path.name != "__pycache__" and (path.is_dir() or path.suffix == ".py")
    }
    assert found - _OTHERS == {name.replace("-", "_") for name in COMMANDS}
