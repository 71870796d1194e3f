"""What the engine says of its own, and what a person needs of it."""

from typing import Any

import pytest

from cli.errors import Problem
from cli.identity import ForeignClusterError
from cli.reviewing import asking
from review.facts import Facts
from review.words import bare

NOISE = "warning: using pulumi-language-python from $PATH at /opt/bin/pulumi-language-python"


class Told:
    """An engine that ends as it is told to."""

    def __init__(self, status: int, log: list[dict[str, Any]], last: str = "") -> None:
        self._end = status, log, last

    def told(self, *_: str) -> tuple[int, list[dict[str, Any]], str]:
        """Return the end."""
        return self._end


def stack(**more: Any) -> Any:
    """Return as much of a stack as is asked for."""
    known = {"name": "lab", "options": "--stack lab", "simulated": False, "settings": None, **more}
    return type("Stack", (), known)()


def test_a_wrong_passphrase(monkeypatch: pytest.MonkeyPatch) -> None:
    """Prevents a reason that stands behind a warning about plugins, and that nobody says how to mend."""
    monkeypatch.setattr("cli.reviewing.facts.of", lambda _: Facts())
    engine: Any = Told(255, [], f"{NOISE}\nerror: get stack secrets manager: incorrect passphrase")
    for found in (asking.drift(stack(), engine), asking.preview(stack(), engine, {})):
        assert found.failed.splitlines() == [
            "error: get stack secrets manager: incorrect passphrase",
            "Correct PULUMI_CONFIG_PASSPHRASE, or the file that PULUMI_CONFIG_PASSPHRASE_FILE names.",
        ]


STEP = {
    "op": "create",
    "urn": "urn:pulumi:lab::hpc::kubernetes:core/v1:Namespace::vision",
    "new": {
        "urn": "urn:pulumi:lab::hpc::kubernetes:core/v1:Namespace::vision",
        "type": "kubernetes:core/v1:Namespace",
        "inputs": {"metadata": {"name": "vision"}},
    },
}


@pytest.mark.parametrize(
    ("engine", "said"),
    [
        (Told(0, [{"summaryEvent": {}}]), ""),
        (
            Told(0, [{"resourcePreEvent": {"metadata": STEP}}, {"summaryEvent": {}}]),
            "The settings declare what no update has made yet (1 object); ./hpc diff --stack lab shows it.",
        ),
        (Told(-9, []), "cannot be told: the engine was killed (signal 9)"),
    ],
)
def test_settings_that_no_update_has_made(engine: Any, said: str) -> None:
    """Prevents a nightly that is green when the update of the main branch failed."""
    found = asking.ahead(stack(), engine)
    assert said in bare(" ".join(found))
    assert bool(found) is bool(said)


@pytest.mark.parametrize("simulated", [False, True])
def test_a_cluster_that_does_not_answer(monkeypatch: pytest.MonkeyPatch, *, simulated: bool) -> None:
    """Prevents a preview that says nothing of a cluster which it never asked; a simulated one is simply started."""

    def refuse(*_: Any) -> None:
        raise Problem("it does not answer", "See whether it runs.")

    monkeypatch.setattr("cli.session.cluster", refuse)
    wanted = stack(simulated=simulated, backend=None)
    if simulated:
        with pytest.raises(Problem, match="does not answer"):
            asking.unanswered(wanted, wanted)
    else:
        assert str(asking.unanswered(wanted, wanted)) == "it does not answer\nSee whether it runs."


def test_another_cluster_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Prevents a review of another stack's cluster."""

    def refuse(*_: Any) -> None:
        raise ForeignClusterError("another", "Go there.")

    monkeypatch.setattr("cli.session.cluster", refuse)
    with pytest.raises(ForeignClusterError):
        asking.unanswered(stack(backend=None), stack())
