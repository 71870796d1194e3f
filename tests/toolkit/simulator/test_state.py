"""State and home of a cluster."""

from pathlib import Path

import pytest
from pydantic import ValidationError

from toolkit.engine.errors import SimulatorError
from toolkit.simulator import state
from toolkit.simulator.home import Layout
from toolkit.simulator.state import ClusterSpec, NodeSpec, PortNumbers, State

DGX = NodeSpec(name="dgx01", profile="dgx1-v100-16gb")


def test_state_survives_and_damage_is_said(tmp_path: Path) -> None:
    """A cluster.json that is damaged, or of another version, is one error."""
    layout = Layout(tmp_path / "lab")
    assert state.load(layout) is None
    kept = State(spec=ClusterSpec(name="lab", nodes=(DGX,)), ports=PortNumbers(api=1, etcd=2, etcd_peer=3, kubelet=4))
    state.save(layout, kept)
    assert state.load(layout) == kept
    assert layout.state.stat().st_mode & 0o777 == 0o600
    good = layout.state.read_text()
    for bad in (good[:30], "", "[]", good.replace('"version": 1', '"version": 2')):
        layout.state.write_text(bad)
        with pytest.raises(SimulatorError, match=r"cluster\.json is damaged or of another version.*sim clean"):
            state.load(layout)


def test_metrics_are_where_actors_are() -> None:
    """A bare cluster, and one of before that has not been started again, serve no metrics."""
    ports = PortNumbers(api=1, etcd=2, etcd_peer=3, kubelet=4)
    served = ports.model_copy(update={"metrics": 5})
    assert State(spec=ClusterSpec(), ports=served).metrics == "http://127.0.0.1:5"
    assert State(spec=ClusterSpec(), ports=ports).metrics is None
    assert State(spec=ClusterSpec(actors=False), ports=served).metrics is None


def test_a_cluster_has_a_name_that_a_folder_can_have() -> None:
    """A name of a cluster cannot lead out of the folder of all clusters."""
    for bad in ("", "../up", "A", "x" * 41, "-x"):
        with pytest.raises(ValidationError):
            ClusterSpec(name=bad)
