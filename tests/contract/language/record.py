"""Records what the official language host does: `python -m tests.contract.language.record`."""

import sys
import tempfile
from pathlib import Path

from simulator.plugins.announcement import reported_version
from simulator.plugins.locate import LANGUAGE, plugin_choice
from tests.contract.language.cases import Record, cases, write
from tests.contract.language.runs import Desk
from tests.support.plugins import engine_version


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
    write(Record(host=reported_version(host), engine=engine_version(), outcomes=outcomes))


if __name__ == "__main__":
    main()
