"""One stack and two clusters, as with two kubeconfigs of one user; API servers that are taken for real clusters."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlparse

import pytest
import yaml

from core.apis import kinds
from tests.engine.kit import Cluster as Api
from tests.engine.kit import wait_until
from tests.support.clusters import BARE, running
from tests.support.lab import checkout
from tests.support.recorded import ROOT
from tests.support.stack_settings import in_one
from tests.support.user import User
from toolkit.cli.shared.backends.backend import of_folder
from toolkit.cli.shared.errors import Problem
from toolkit.engine.plugins.locate import plugin_choice
from toolkit.engine.tools import find
from toolkit.simulator.actors.packages import packages
from toolkit.simulator.actors.packageserver import package_manifest
from toolkit.simulator.cluster import Cluster

pytestmark = pytest.mark.cluster


@pytest.fixture(scope="module")
def own_api() -> Iterator[Cluster]:
    """Give an API server of the test's own; the shared one is the other, on which nothing is made."""
    with running(BARE.model_copy(update={"name": "test-own"})) as started:
        user, inside = User.of(started.kubeconfig), "openshift-marketplace"
        user.apply(kinds.NAMESPACE, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": inside}})
        for package in packages().values():
            source = {"metadata": {"name": package.sources[0], "namespace": inside}, "spec": {}}
            user.apply(kinds.PACKAGE_MANIFEST, package_manifest(package, source))
        yield started


@dataclass
class Desk:
    """A checkout with stack lab on a real cluster, its state in a folder, and a user's environment."""

    root: Path
    environment: dict[str, str]

    def hpc(self, *arguments: str) -> tuple[int, str]:
        """Run a command of ./hpc; return its status and all that it printed."""
        return self._run(sys.executable, str(self.root / "toolkit" / "cli"), *arguments)

    def killed_up(self, word: str) -> str:
        """Run `./hpc up` until it prints a word, and kill it with its engine; return its output.

        No object is waited for: there are no nodes here, which ends the update when it comes to them.
        """
        command = [sys.executable, str(self.root / "toolkit" / "cli"), "up", "--stack", "lab"]
        with (self.root / "said").open("w") as output:
            process = subprocess.Popen(
                command,
                cwd=self.root,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            try:
                said = self.root / "said"
                wait_until(lambda: word in said.read_text() or process.poll() is not None, 300)
                assert process.poll() is None, said.read_text()
                self._stop_between_writes(process.pid)
            finally:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        return (self.root / "said").read_text()

    def _stop_between_writes(self, group: int) -> None:
        """Stop an update while its state is whole; one that is cut is for `./hpc state restore`, not for this test."""
        backend = of_folder(Path(urlparse(self.environment["PULUMI_BACKEND_URL"]).path))

        def stopped() -> bool:
            os.killpg(group, signal.SIGSTOP)
            try:
                backend.checkpoint("lab")
            except Problem:
                os.killpg(group, signal.SIGCONT)
                return False
            return True

        wait_until(stopped, 120)

    def pulumi(self, *arguments: str) -> tuple[int, str]:
        """Run plain `pulumi`."""
        plain = {**self.environment, "PATH": plugin_choice(self.environment).path}
        return Desk(self.root, plain)._run(str(find("pulumi")), *arguments, "--non-interactive")

    def settle_on(self, cluster: Cluster, uid: str | None = None) -> None:
        """Let the settings name a cluster."""

        def edit(settings: dict[str, Any]) -> None:
            named = {"kubeconfig": str(cluster.kubeconfig), "context": cluster.context, "uid": uid}
            settings["cluster"] |= named | {"simulated": False, "offline_provider": True}

        self._change(edit)

    def _change(self, edit: Callable[[dict[str, Any]], None]) -> None:
        file = self.root / "Pulumi.lab.yaml"
        content = in_one(file if file.exists() else self.root / "Pulumi.dev.yaml")
        edit(content["config"]["hpc:platform"])
        file.write_text(yaml.safe_dump(content))

    def _run(self, *command: str) -> tuple[int, str]:
        done = subprocess.run(
            command,
            cwd=self.root,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        assert "Traceback (most recent call last)" not in done.stdout, done.stdout
        return done.returncode, done.stdout


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    """Give a checkout with an empty backend."""
    (tmp_path / "backend").mkdir()
    outer = {key: value for key, value in os.environ.items() if not key.startswith(("PULUMI_", "HPC_SIM"))}
    own = {
        "PULUMI_HOME": str(tmp_path / "home"),
        "PULUMI_BACKEND_URL": (tmp_path / "backend").as_uri(),
        "PULUMI_CONFIG_PASSPHRASE": (ROOT / "stacks/dev.passphrase").read_text().strip(),
        "PULUMI_SKIP_UPDATE_CHECK": "true",
        "PULUMI_STACK": "lab",
    }
    with checkout(tmp_path / "root") as lab:
        yield Desk(lab.root, {**outer, **own})


def _uid(cluster: Cluster) -> str:
    found = Api(cluster.kubeconfig, cluster.context).get("/api/v1/namespaces/kube-system")
    return str(found["metadata"]["uid"])


def _namespaces(cluster: Cluster) -> set[str]:
    """Return the namespaces of a cluster, without those of earlier tests that are on their way out."""
    items = Api(cluster.kubeconfig, cluster.context).get("/api/v1/namespaces")["items"]
    return {item["metadata"]["name"] for item in items if "deletionTimestamp" not in item["metadata"]}


def test_a_stack_stays_with_its_cluster(desk: Desk, own_api: Cluster, bare_api: Cluster) -> None:
    """An update is refused on another cluster than the state's, where every object would count as deleted.

    A first update that was killed counts, too.
    """
    mine, other = _uid(own_api), _uid(bare_api)
    before = _namespaces(bare_api)
    desk.settle_on(own_api)
    status, said = desk.hpc("state", "init", "--stack", "lab")
    assert status == 0, said
    said = desk.killed_up("created")
    assert f"noted: stack lab belongs to the cluster {mine} at {own_api.server}" in said
    assert f"      uid: {mine}\n" in said

    desk.settle_on(bare_api)
    for words in (["up"], ["pulumi", "preview"], ["pulumi", "refresh", "--yes"], ["pulumi", "destroy", "--yes"]):
        status, said = desk.hpc(words[0], "--stack", "lab", *words[1:])
        assert status != 0, said
        assert "this is not the cluster of stack lab" in said
        assert mine in said
        assert other in said

    desk.settle_on(bare_api, mine)
    status, said = desk.pulumi("preview")
    assert status != 0, said
    assert f"leads to the cluster {other}" in said
    assert "to create" not in said
    assert _namespaces(bare_api) == before
    desk.settle_on(own_api, mine)
    status, said = desk.pulumi("preview")
    assert status == 0, said

    desk.settle_on(bare_api)
    status, said = desk.hpc("state", "accept-cluster", "--stack", "lab", mine)
    assert status != 0, said
    status, said = desk.hpc("state", "accept-cluster", "--stack", "lab", other)
    assert status == 0, said
