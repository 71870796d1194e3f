"""What the engine reports, and what a user needs of it."""

from typing import Any

import pytest

from toolkit.cli.diff import engine_reviews
from toolkit.cli.shared.errors import Problem
from toolkit.cli.shared.identity import ForeignClusterError
from toolkit.render.recorder import Registration
from toolkit.review.cluster_facts import Facts
from toolkit.review.sentences import bare

NOISE = "warning: using pulumi-language-python from $PATH at /opt/bin/pulumi-language-python"


class Ended:
    """An engine that exits with a given status and log."""

    def __init__(self, status: int, log: list[dict[str, Any]], last: str = "") -> None:
        self._end = status, log, last

    def run_preview(self, *_: str) -> tuple[int, list[dict[str, Any]], str]:
        """Return the end."""
        return self._end


def stack(**more: Any) -> Any:
    """Return a stack with these attributes."""
    known = {
        "name": "lab",
        "options": "--stack lab",
        "simulated": False,
        "settings": None,
        "kubectl": "kubectl",
        **more,
    }
    return type("Stack", (), known)()


def test_a_wrong_passphrase(monkeypatch: pytest.MonkeyPatch) -> None:
    """A wrong passphrase is reported with its remedy, without warnings about plugins."""
    monkeypatch.setattr("toolkit.cli.diff.settings_facts.of", lambda *_: Facts())
    engine: Any = Ended(255, [], f"{NOISE}\nerror: get stack secrets manager: incorrect passphrase")
    for found in (engine_reviews.drift(stack(), engine), engine_reviews.preview(stack(), engine, {})):
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
        (Ended(0, [{"summaryEvent": {}}]), ""),
        (
            Ended(0, [{"resourcePreEvent": {"metadata": STEP}}, {"summaryEvent": {}}]),
            "The settings declare what no update has created yet (1 object); ./hpc diff --stack lab shows it.",
        ),
        (Ended(-9, []), "could not be determined: the engine was killed (signal 9)"),
    ],
)
def test_settings_that_no_update_has_made(engine: Any, said: str) -> None:
    """Drift reports that the settings declare more than the last update created, or that this is unknown."""
    found = engine_reviews.ahead(stack(), engine)
    assert said in bare(" ".join(found))
    assert bool(found) is bool(said)


def test_a_job_that_keeps_its_specification(monkeypatch: pytest.MonkeyPatch) -> None:
    """A preview reports fields that a job with `on_change: keep` does not take: the program is rendered for it."""
    monkeypatch.setattr("toolkit.cli.diff.settings_facts.of", lambda *_: Facts())
    job, component = "kubernetes:batch/v1:Job", "hpc:workloads:Job"
    urns = {kind: f"urn:pulumi:lab::hpc::{kind}::train" for kind in (job, component)}

    def step(kind: str, inputs: dict[str, Any]) -> dict[str, Any]:
        state = {"urn": urns[kind], "type": kind, "inputs": inputs}
        return {"resourcePreEvent": {"metadata": {"op": "same", "urn": urns[kind], "old": state, "new": state}}}

    log = [step(job, {"spec": {"image": "old"}}), step(component, {"on_change": "keep"}), {"summaryEvent": {}}]
    declared = Registration(job, "train", urns[job], {"spec": {"image": "new"}}, "", ignore_changes=("spec",))
    monkeypatch.setattr("toolkit.render.manifests.registrations", lambda _: (declared,))
    engine: Any = Ended(0, log)
    found = engine_reviews.preview(stack(), engine, {})
    assert {change.resource.type: change.kept for change in found.changes} == {job: ("spec.image",), component: ()}


@pytest.mark.parametrize("simulated", [False, True])
def test_a_cluster_that_does_not_answer(monkeypatch: pytest.MonkeyPatch, *, simulated: bool) -> None:
    """A review says why a real cluster was not queried; a simulated one that does not answer is an error."""

    def refuse(*_: Any) -> None:
        raise Problem("it does not answer", "See whether it runs.")

    monkeypatch.setattr("toolkit.cli.shared.session.cluster", refuse)
    wanted = stack(simulated=simulated, backend=None)
    if simulated:
        with pytest.raises(Problem, match="does not answer"):
            engine_reviews.unanswered(wanted, wanted)
    else:
        assert str(engine_reviews.unanswered(wanted, wanted)) == "it does not answer\nSee whether it runs."


def test_another_cluster_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A review of another stack's cluster is refused."""

    def refuse(*_: Any) -> None:
        raise ForeignClusterError("another", "Go there.")

    monkeypatch.setattr("toolkit.cli.shared.session.cluster", refuse)
    with pytest.raises(ForeignClusterError):
        engine_reviews.unanswered(stack(backend=None), stack())
