"""How a simulated cluster is recognised."""

from pathlib import Path

import pytest

from core import project, simulated
from core.errors import UserError


def test_home_is_where_the_environment_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Homes are where the environment says; a name cannot lead elsewhere."""
    monkeypatch.delenv("HPC_SIM_HOME", raising=False)
    assert simulated.home("default") == project.PRODUCT / ".sim" / "default"
    monkeypatch.setenv("HPC_SIM_HOME", str(tmp_path))
    assert simulated.home("default") == tmp_path / "default"
    for bad in ("", "../up", "A", "x" * 41, "-x"):
        with pytest.raises(UserError, match="cluster name"):
            simulated.home(bad)
