"""The runner of a suite: the real script, with a client of this test."""

import sys
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from toolkit.simulator.actors.informer import Key
from toolkit.simulator.actors.runtime import Runtime
from toolkit.simulator.actors.suite_runner import SCRIPT, VARIABLES, SuiteRunners
from toolkit.simulator.api import Kubeconfig

CLIENT = """#!/bin/sh
case "$3" in
create) cat >/dev/null; echo "created with $(grep token: "$KUBECONFIG")" ;;
get) [ "$4" = jobs.v1.batch,services ] || echo Complete ;;
esac
"""
SECONDS = 30


def runtime(folder: Path, script: str, *, client: bool = True, **files: str) -> Runtime:
    """Return what the runner needs of a cluster: a ConfigMap, a token, and the client."""
    (folder / "kubectl").write_text(CLIENT)
    (folder / "kubectl").chmod(0o755)
    plan = "00-n.json jobs.v1.batch n-yymmddhhmm-n 9 n\n"
    data = {"suite.sh": script, "plan": plan, "00-n.json": "{}", **files}
    found = SimpleNamespace(
        config_maps=SimpleNamespace(get=lambda *_: {"data": data}),
        settings=SimpleNamespace(tools={"kubectl": folder / "kubectl"} if client else {}),
        token=lambda _: "the-token-of-the-pod",
        access=lambda: Kubeconfig("https://127.0.0.1:1", "a CA", "the kubelet's"),
    )
    return cast("Runtime", found)


def pod(**variables: str) -> dict[str, Any]:
    """Return the pod of a suite's round."""
    wanted = {
        "HPC_NAMESPACE": "adas",
        "HPC_SUITE": "suite",
        "HPC_REPEATS": "2",
        "HPC_KEEP": "3",
        "HPC_POLL": "60",
        "HPC_FOLDER": "/suite",
        "HPC_RESOURCES": "jobs.v1.batch,services",
        **variables,
    }
    container = {
        "name": "runner",
        "image": "ose-cli:v4.21",
        "command": ["/bin/sh", "/suite/suite.sh"],
        "env": [{"name": name, "value": value} for name, value in wanted.items()],
        "volumeMounts": [{"name": "suite", "mountPath": "/suite"}],
    }
    volumes = [{"name": "suite", "configMap": {"name": "suite-runner"}}]
    spec = {"serviceAccountName": "suite-runner", "nodeName": "w1", "containers": [container], "volumes": volumes}
    return {"metadata": {"name": "suite-1-x", "namespace": "adas", "uid": "1"}, "spec": spec}


def end(folder: Path, changed: dict[str, str] | None = None, **more: Any) -> Any:
    """Return how the pod ends, once its script has."""
    woken = threading.Event()
    ended: list[Key] = []

    def wake(key: Key) -> None:
        ended.append(key)
        woken.set()

    runners = SuiteRunners(runtime(folder, SCRIPT.read_text(), **more), wake)
    runner = pod(**(changed or {}))
    first = runners.outcome(runner)
    assert first is not None
    assert woken.wait(SECONDS)
    assert ended == [("adas", "suite-1-x")]
    return runners.outcome(runner)


def test_the_script_is_really_run_with_the_token_of_its_pod(tmp_path: Path) -> None:
    """Its log is what it printed, after a line that says where it ran."""
    found = end(tmp_path)
    printed = "\n".join(found.lines)
    assert found.exit_code == 0, printed
    assert printed.count("created with     token: the-token-of-the-pod") == 2
    assert "repeat 2 of 2" in printed
    assert "no container, but this machine runs the script, as account suite-runner" in printed


def test_any_other_script_is_not_run(tmp_path: Path) -> None:
    """A user's pod runs nothing on this machine."""
    runners = SuiteRunners(runtime(tmp_path, "rm -r /"), lambda _: None)
    assert runners.outcome(pod()) is None
    other = pod()
    other["spec"]["containers"][0]["command"] = ["/bin/sh", "-c", "true"]
    assert SuiteRunners(runtime(tmp_path, SCRIPT.read_text()), lambda _: None).outcome(other) is None


def test_the_script_gets_the_variables_that_it_reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Other variables of the pod would decide what else this machine runs, and so would its files beside the client."""
    monkeypatch.setattr(sys.modules[__name__], "CLIENT", '#!/bin/sh\nenv; cat "$KUBECONFIG"\n')
    lines = end(
        tmp_path, {"LD_PRELOAD": "/planted.so", "ENV": "/planted", "PATH": "/planted"}, kubeconfig="planted"
    ).lines
    assert "planted" not in "\n".join(lines)
    names = {name for name, separator, _ in (line.partition("=") for line in lines) if separator and name.isupper()}
    own = {"HOME", "HPC_FOLDER", "HPC_POLL", "KUBECONFIG", "PATH"}
    assert names - {"PWD", "OLDPWD", "SHLVL", "_"} == {*VARIABLES, *own}


@pytest.mark.parametrize(
    ("place", "word"), [("HPC_KEEP", "a[$(id)]"), ("HPC_RESOURCES", "--kubeconfig=x"), ("plan", "../x")]
)
def test_the_script_gets_plain_words(place: str, word: str, tmp_path: Path) -> None:
    """What a shell would evaluate, or the client take for an option, ends the pod before the script starts."""
    files = {"plan": f"00-n.json jobs.v1.batch n 9 {word}\n"} if place == "plan" else {}
    ended = end(tmp_path, {} if files else {place: word}, **files)
    assert ended.exit_code == 1
    assert f"{place}: '{word}' is no name" in ended.message


def test_a_cluster_without_the_client_says_so(tmp_path: Path) -> None:
    """It was started with settings that had no suite."""
    found = end(tmp_path, client=False)
    assert found.exit_code == 1
    assert "started without kubectl" in found.message


def test_a_pod_that_goes_ends_its_script(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A round whose Job is deleted starts no further runs, and nothing is woken."""
    monkeypatch.setattr(sys.modules[__name__], "CLIENT", "#!/bin/sh\nsleep 60\n")
    woken: list[Key] = []
    runners = SuiteRunners(runtime(tmp_path, SCRIPT.read_text()), woken.append)
    assert runners.outcome(pod()) is not None
    (run,) = runners._runs.values()
    for _ in range(SECONDS * 20):
        if run.process is not None:
            break
        threading.Event().wait(0.05)
    assert run.process is not None
    runners.forget(pod())
    assert run.process.wait(SECONDS) != 0
    assert woken == []
