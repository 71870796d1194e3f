"""`./hpc data select` against the simulated Spectrum Discover of a stack's cluster, over real HTTPS."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.commands import finished
from tests.support.http_server import serving
from tests.toolkit.cli.data.kit import Change
from toolkit.cli.data import select, sources
from toolkit.cli.shared.simulated import spec as simulated_spec
from toolkit.cli.shared.stack import Stack, read
from toolkit.simulator import state as states
from toolkit.simulator.access import accounts
from toolkit.simulator.access.pki import create
from toolkit.simulator.discover.database import Database
from toolkit.simulator.discover.service import Service, Tokens
from toolkit.simulator.home import Layout
from toolkit.simulator.state import ClusterSpec, PortNumbers, State

SOURCE = {"kind": "discover", "host": "discover.example.com"}


class Clock:
    """A clock that the test sets."""

    now = 0.0

    def __call__(self) -> float:
        """Return the time."""
        return self.now


@pytest.fixture
def clock(tmp_path: Path, change: Change, monkeypatch: pytest.MonkeyPatch) -> Iterator[Clock]:
    """Serve the catalogue of the stack `lab` as its cluster's Spectrum Discover; give the clock of its tokens."""
    change(source=SOURCE)
    monkeypatch.setenv("HPC_SIM_HOME", str(tmp_path / "sim"))
    monkeypatch.setattr(Stack, "simulated", True)
    monkeypatch.setattr(Stack, "cluster_name", "lab")
    layout, clock = Layout(tmp_path / "sim" / "lab"), Clock()
    pki, account = create(layout.pki, "lab"), accounts.create(layout.catalogue_account)
    service = Service(Database(tmp_path / "data" / "a2d2.sqlite"), account, Tokens(60.0, clock))
    with serving(service.respond, pki) as port:
        ports = PortNumbers(api=1, etcd=2, etcd_peer=3, kubelet=4, discover=port)
        states.save(layout, State(spec=ClusterSpec(name="lab", discover=True), ports=ports))
        yield clock


def test_a_stack_with_such_a_source_has_one(change: Change) -> None:
    """The simulated cluster of a stack has Spectrum Discover where a data set asks it."""
    assert not simulated_spec.of(read("lab")).discover
    change(source=SOURCE)
    assert simulated_spec.of(read("lab")).discover


@pytest.mark.usefixtures("clock")
def test_frames_are_chosen_from_it(tmp_path: Path, change: Change) -> None:
    """The lock is that of the same catalogue in a file, but for where it was asked."""
    code, text = finished(select.command, "bikes", "--stack", "lab")
    assert code == 0, text
    lock = tmp_path / "data" / "bikes.lock.json"
    asked = lock.read_text()
    assert '"source": "discover"' in asked
    lists = (tmp_path / "data" / "bikes.list").read_bytes()
    change()
    assert finished(select.command, "bikes", "--stack", "lab")[0] == 0
    assert (tmp_path / "data" / "bikes.list").read_bytes() == lists


def test_a_token_that_expires_is_renewed(clock: Clock) -> None:
    """Between two questions the token may expire; no message or record has the password."""
    console = sources.open_source(read("lab").settings.tenants[0].data_sets[0].source, read("lab"))
    counted = "select count(*) from metaocean"
    first = console.ask(counted)
    clock.now = 61.0
    assert console.ask(counted) == first
