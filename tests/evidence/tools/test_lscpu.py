"""lscpu, as text and as JSON, in the forms of util-linux 2.32 to 2.40."""

from pathlib import Path

from evidence.reader import read
from evidence.tools.lscpu import LsCpu
from tests.support.mutated import read_text

LOGS = Path(__file__).parent.parent / "logs" / "lscpu"


def _cpus(text: str) -> LsCpu:
    (found,) = read_text(text)
    assert isinstance(found, LsCpu)
    return found


def test_the_eight_numa_nodes_of_a_dgx_a100() -> None:
    """Prevents a CPU list from being read as another node's (D-2.5)."""
    (found,) = read(LOGS / "d-2.5.log")
    assert isinstance(found, LsCpu)
    assert {row.node: row.cpus for row in found.rows} == {
        node: f"{16 * node}-{16 * node + 15},{128 + 16 * node}-{143 + 16 * node}" for node in range(8)
    }
    assert found.incomplete == "no number of NUMA nodes; no number of CPUs"


TEXT = """\
Architecture:                    x86_64
CPU op-mode(s):                  32-bit, 64-bit
Byte Order:                      Little Endian
CPU(s):                          80
On-line CPU(s) list:             0-79
Thread(s) per core:              2
Core(s) per socket:              20
Socket(s):                       2
NUMA node(s):                    2
Vendor ID:                       GenuineIntel
Model name:                      Intel(R) Xeon(R) CPU E5-2698 v4 @ 2.20GHz
L1d cache:                       1.3 MiB
NUMA node0 CPU(s):               0-19,40-59
NUMA node1 CPU(s):               20-39,60-79
Vulnerability Meltdown:          Mitigation; PTI
Flags:                           fpu vme de pse tsc
"""


def test_the_whole_text() -> None:
    """Prevents On-line CPU(s) from being the number of CPUs."""
    found = _cpus(TEXT)
    assert found.complete
    assert found.unread == ()
    assert (found.cpus, found.sockets, found.cores_per_socket, found.threads_per_core) == (80, 2, 20, 2)
    assert (found.architecture, found.model) == ("x86_64", "Intel(R) Xeon(R) CPU E5-2698 v4 @ 2.20GHz")
    assert _cpus(TEXT.partition("NUMA node1")[0]).incomplete == "1 of 2 NUMA nodes"
    unknown = _cpus(TEXT.replace("Socket(s):                       2", "Socket(s):                       -"))
    assert (unknown.sockets, unknown.complete) == (None, True)


def test_the_json_of_old_and_new_versions() -> None:
    """Prevents -J from being unread, in one line a field (RHEL 8) or in several, nested (RHEL 9)."""
    pairs = [line.split(":", 1) for line in TEXT.splitlines()]
    flat = ",\n".join(f'      {{"field": "{key}:", "data": "{value.strip()}"}}' for key, value in pairs)
    nested = ",\n".join(
        f'      {{\n         "field": "{key}:",\n         "data": "{value.strip()}"\n      }}' for key, value in pairs
    )
    for fields in (flat, nested):
        found = _cpus(f'{{\n   "lscpu": [\n{fields}\n   ]\n}}\n')
        assert (found.complete, found.unread, found.cpus) == (True, (), 80)
        assert [row.cpus for row in found.rows] == ["0-19,40-59", "20-39,60-79"]
        assert not _cpus(f'{{\n   "lscpu": [\n{fields}\n').complete
