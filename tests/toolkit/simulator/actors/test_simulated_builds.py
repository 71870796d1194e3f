"""Simulated builds: which BuildConfig is built, and how a build ends."""

from typing import Any

from toolkit.simulator.actors import builds

CONFIG: dict[str, Any] = {
    "apiVersion": "build.openshift.io/v1",
    "kind": "BuildConfig",
    "metadata": {"name": "train", "namespace": "adas", "uid": "uid"},
    "spec": {
        "source": {"type": "Dockerfile", "dockerfile": "FROM base\nRUN make\n"},
        "strategy": {"type": "Docker"},
        "output": {"to": {"kind": "ImageStreamTag", "name": "train:1"}},
        "triggers": [{"type": "ConfigChange"}],
        "runPolicy": "Serial",
    },
}


def config(containerfile: str) -> dict[str, Any]:
    """Return a BuildConfig of a Containerfile."""
    return {**CONFIG, "spec": {**CONFIG["spec"], "source": {"dockerfile": containerfile}}}


def test_only_a_new_build_config_with_the_trigger_is_built() -> None:
    """As on OpenShift, where a changed one waits for `oc start-build`."""
    assert builds.begins(CONFIG)
    assert not builds.begins({**CONFIG, "spec": {**CONFIG["spec"], "triggers": []}})
    assert not builds.begins({**CONFIG, "status": {"lastVersion": 1}})


def test_a_build_has_what_its_config_says() -> None:
    """With the label and the owner by which it is found, and goes."""
    build = builds.new(CONFIG)
    assert build["metadata"]["name"] == "train-1"
    assert build["metadata"]["labels"] == {"openshift.io/build-config.name": "train"}
    assert build["metadata"]["ownerReferences"][0]["name"] == "train"
    assert build["spec"] == {key: CONFIG["spec"][key] for key in ("source", "strategy", "output")}


def test_a_step_that_fails_by_itself_fails_the_build() -> None:
    """In the words of OpenShift's builder, with the end of its log."""
    assert builds.ended(builds.new(CONFIG)) == {"phase": "Complete"}
    end = builds.ended(builds.new(config("FROM base\nRUN exit 3\n")))
    assert (end["phase"], end["reason"]) == ("Failed", "DockerBuildFailed")
    assert end["logSnippet"].endswith('at STEP "RUN exit 3": while running runtime: exit status 3')
    assert builds.ended(builds.new(config("FROM base\nRUN false || true\n"))) == {"phase": "Complete"}
