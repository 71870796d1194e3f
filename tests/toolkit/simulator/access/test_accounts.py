"""The account of a simulated server."""

from pathlib import Path

from toolkit.simulator.access.accounts import create, read


def test_an_account_is_made_once(tmp_path: Path) -> None:
    """The file is for its owner only, and gives the same account again; no password is printed."""
    file = tmp_path / "account.json"
    assert read(file) is None
    made = create(file)
    assert create(file) == read(file) == made
    assert file.stat().st_mode & 0o077 == 0
    assert made.password not in repr(made)
