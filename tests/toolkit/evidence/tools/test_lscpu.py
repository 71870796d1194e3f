"""lscpu, as text and as JSON, in the forms of util-linux 2.32 to 2.40."""

from pathlib import Path

from tests.support.mutated import only
from tests.toolkit.evidence.tools.logs import LSCPU as TEXT
from toolkit.evidence.tools.lscpu import LsCpu

LOGS = Path(__file__).parent.parent / "logs" / "lscpu"


def test_the_eight_numa_nodes_of_a_dgx_a100() -> None:
    """CPUs belong to their NUMA node."""
    found = only(LsCpu, LOGS / "d-2.5.log")
    assert {row.node: row.cpus for row in found.rows} == {
        node: f"{16 * node}-{16 * node + 15},{128 + 16 * node}-{143 + 16 * node}" for node in range(8)
    }
    assert found.incomplete == "no number of NUMA nodes; no number of CPUs"


def test_the_whole_text() -> None:
    """`On-line CPU(s)` is not the number of CPUs."""
    found = only(LsCpu, TEXT)
    assert found.complete
    assert found.unread == ()
    assert (found.cpus, found.sockets, found.cores_per_socket, found.threads_per_core) == (80, 2, 20, 2)
    assert (found.architecture, found.model) == ("x86_64", "Intel(R) Xeon(R) CPU E5-2698 v4 @ 2.20GHz")
    assert only(LsCpu, TEXT.partition("NUMA node1")[0]).incomplete == "1 of 2 NUMA nodes"
    unknown = only(LsCpu, TEXT.replace("Socket(s):                       2", "Socket(s):                       -"))
    assert (unknown.sockets, unknown.complete) == (None, True)


def test_the_json_of_old_and_new_versions() -> None:
    """-J is read, in one line a field (RHEL 8) and nested in several (RHEL 9)."""
    pairs = [line.split(":", 1) for line in TEXT.splitlines()]
    flat = ",\n".join(f'      {{"field": "{key}:", "data": "{value.strip()}"}}' for key, value in pairs)
    nested = ",\n".join(
        f'      {{\n         "field": "{key}:",\n         "data": "{value.strip()}"\n      }}' for key, value in pairs
    )
    for fields in (flat, nested):
        found = only(LsCpu, f'{{\n   "lscpu": [\n{fields}\n   ]\n}}\n')
        assert (found.complete, found.unread, found.cpus) == (True, (), 80)
        assert [row.cpus for row in found.rows] == ["0-19,40-59", "20-39,60-79"]
        assert not only(LsCpu, f'{{\n   "lscpu": [\n{fields}\n').complete
