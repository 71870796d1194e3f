"""`./hpc drift`: what it prints beside the review."""

from typing import Any

import pytest

from tests.support.commands import finished
from toolkit.cli.drift import command, repairs
from toolkit.cli.drift.repairs import Left, Repair
from toolkit.cli.shared import session
from toolkit.cli.shared.stack import Stack
from toolkit.review.model import Change, Op, Resource, Review

RESOURCE = Resource("urn:x::mpi", "kubernetes:rbac.authorization.k8s.io/v1:RoleBinding", {"metadata": {"name": "mpi"}})


def test_repairs_are_shown_and_not_made(dev: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    """With --repairs the drift is followed by what a repair would leave, in place of the command that repairs."""
    review = Review(dev.name, (Change(Op.DELETE, RESOURCE, None),))
    proposed: list[Any] = []
    monkeypatch.setattr(command, "_reviewed", lambda _: review)
    monkeypatch.setattr(session, "engine", lambda _: None)
    monkeypatch.setattr(session, "cluster", lambda _: None)

    def propose(*given: object) -> Repair:
        proposed.append(given)
        return Repair((), left=(Left(RESOURCE, "the API server refuses it"),))

    monkeypatch.setattr(repairs, "proposed", propose)
    status, printed = finished(command.command, "--stack", "dev")
    assert (status, len(proposed), "--repair` re-applies" in printed) == (command.DRIFTED, 0, True)
    status, printed = finished(command.command, "--stack", "dev", "--repairs")
    assert (status, len(proposed)) == (command.DRIFTED, 1)
    assert "not repaired: RoleBinding mpi: the API server refuses it" in printed
