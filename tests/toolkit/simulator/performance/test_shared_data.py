"""shared-data on pods with and without the tenant's claim."""

from dataclasses import replace

import pytest

from stacks.programs import PROGRAMS
from tests.support.mutated import only
from tests.toolkit.simulator.performance.launches import launch
from toolkit.evidence.tools.shared_data import SharedData
from toolkit.simulator.performance import pod_commands


@pytest.mark.parametrize(("claims", "code", "results"), [(("data",), 0, {"same"}), ((), 1, {"not seen"})])
def test_pods_of_one_claim_share_files(claims: tuple[str, ...], code: int, results: set[str]) -> None:
    """The program's own script runs in the simulated shell; what its pods see depends on their volumes."""
    words = ("mpirun", "-np", "2", *PROGRAMS["shared-data"].command)
    done = pod_commands.simulate(replace(launch(2, 8, worker={"claims": claims}), words=words))
    assert done.exit_code == code
    found = only(SharedData, "\n".join(line for line in done.lines if line.startswith("shared-data: rank")))
    assert {row.result for row in found.rows} == results
