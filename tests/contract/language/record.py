"""Records what the official language host does: `python -m tests.contract.language.record`."""

import subprocess
import sys
import tempfile
from pathlib import Path

from tests.contract.language.cases import Record, cases, write
from tests.contract.language.runs import Desk
from toolkit.engine.plugins.announcement import reported_version
from toolkit.engine.plugins.locate import LANGUAGE, plugin_choice
from toolkit.engine.tools import find


def main() -> None:
    """Run every case, and write what came of it; refuse to record a stand-in."""
    host = plugin_choice().find(LANGUAGE)
    if not host.official:
        sys.exit("only the official language host is recorded: name its folder in HPC_PLUGINS")
    outcomes = {}
    with tempfile.TemporaryDirectory(prefix="hpc-contract-") as folder:
        empty = Desk(Path(folder) / "empty").start()
        for name, case in cases().items():
            outcomes[name] = empty.copy(Path(folder) / name).run(case)
            sys.stderr.write(f"{name}\n")
    engine = subprocess.check_output([find("pulumi"), "version"], text=True).strip().removeprefix("v")
    write(Record(host=reported_version(host), engine=engine, outcomes=outcomes))


if __name__ == "__main__":
    main()
