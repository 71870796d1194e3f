"""The network goes in the middle of an update: to the cluster, or to the bucket with the state."""

import subprocess
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import yaml

from tests.engine.kit import Cluster, config_map, wait_until
from tests.engine.resilience.kit import LABELS, Kept, s3_url
from tests.engine.resilience.proxy import Proxy, proxy

pytestmark = pytest.mark.engine

COUNT = 12
AT = 4
"""Objects that are there when the connection goes."""


def _declare(stack: Kept, namespace: str) -> None:
    """Declare config maps in four rows, so that some are under way at any moment."""
    things = []
    for number in range(COUNT):
        before = [f"m{number - 4}"] if number >= 4 else []
        made = config_map(f"m{number}", namespace, {"a": "1"}, options={"depends_on": before})
        made["fields"]["metadata"]["labels"] = LABELS
        things.append(made)
    stack.configure(*things)


def _live(api: Cluster, namespace: str) -> dict[str, str]:
    items = api.get(f"/api/v1/namespaces/{namespace}/configmaps")["items"]
    return {
        each["metadata"]["name"]: each["metadata"]["uid"]
        for each in items
        if each["metadata"]["name"] != "kube-root-ca.crt"
    }


def _behind(api: Cluster, way: Proxy, folder: Path) -> Cluster:
    """Return the cluster as it is seen through a proxy."""
    content = yaml.safe_load(api.kubeconfig.read_text())
    for each in content["clusters"]:
        each["cluster"]["server"] = f"https://127.0.0.1:{way.port}"
    file = folder / "kubeconfig"
    file.write_text(yaml.safe_dump(content))
    return Cluster(file, api.context)


def _port(api: Cluster) -> int:
    server = yaml.safe_load(api.kubeconfig.read_text())["clusters"][0]["cluster"]["server"]
    port = urlsplit(server).port
    assert port
    return int(port)


def _interrupted(stack: Kept, api: Cluster, namespace: str, interrupt: Callable[[], None]) -> "subprocess.Popen[str]":
    engine = stack.start_pulumi("up", "--yes", "--skip-preview")
    wait_until(lambda: len(_live(api, namespace)) >= AT)
    interrupt()
    return engine


def _finish(stack: Kept, api: Cluster, namespace: str) -> None:
    """Repair, refresh and update; every object is there once, the same as before, and in the state."""
    stack.repair(thorough=True)
    before = _live(api, namespace)
    refreshed = stack.refresh()
    assert refreshed.status == 0, refreshed.text
    done = stack.up()
    assert done.status == 0, done.text
    assert before.items() <= _live(api, namespace).items(), "made anew, although they were there"
    _is_whole(stack, api, namespace)


def _is_whole(stack: Kept, api: Cluster, namespace: str) -> None:
    assert set(_live(api, namespace)) == {f"m{number}" for number in range(COUNT)}
    in_state = [each["id"].rpartition("/")[2] for each in stack.resources_of("ConfigMap")]
    assert sorted(in_state) == sorted(f"m{number}" for number in range(COUNT))
    assert not stack.latest.get("pending_operations")
    second = stack.preview("--expect-no-changes")
    assert second.status == 0, second.text


@pytest.mark.parametrize("kept", ["folder"], indirect=True)
@pytest.mark.parametrize("how", ["cut", "mute"])
def test_the_cluster_goes(kept: Kept, api: Cluster, namespace: str, tmp_path: Path, how: str) -> None:
    """After an update that lost the cluster, a repair and an update finish it, also where an answer was lost."""
    with proxy(_port(api)) as way:
        kept.cluster = _behind(api, way, tmp_path)
        _declare(kept, namespace)
        engine = _interrupted(kept, api, namespace, getattr(way, how))
        text, _ = engine.communicate(timeout=120)
        assert engine.returncode != 0, text
        way.mend()
        if how == "mute":
            known = {each["id"].rpartition("/")[2] for each in kept.resources_of("ConfigMap")}
            assert set(_live(api, namespace)) - known, "nothing was lost, so this proves nothing"
        _finish(kept, api, namespace)


def test_the_bucket_goes_for_a_moment(
    api: Cluster, namespace: str, tmp_path: Path, bucket: str, object_store: str
) -> None:
    """An update outlives a bucket that does not answer for a moment."""
    with proxy(urlsplit(object_store).port or 0) as way:
        stack = Kept.make(tmp_path / "project", api, s3_url(bucket, f"http://127.0.0.1:{way.port}"))
        _declare(stack, namespace)
        engine = _interrupted(stack, api, namespace, way.cut)
        refused = way.refused
        wait_until(lambda: way.refused > refused)
        way.mend()
        text, _ = engine.communicate(timeout=120)
        assert engine.returncode == 0, text
        _is_whole(stack, api, namespace)


def test_the_bucket_goes_and_so_does_the_engine(
    api: Cluster, namespace: str, tmp_path: Path, bucket: str, object_store: str
) -> None:
    """After a killed update that could not write its state, a repair and an update finish it."""
    with proxy(urlsplit(object_store).port or 0) as way:
        stack = Kept.make(tmp_path / "project", api, s3_url(bucket, f"http://127.0.0.1:{way.port}"))
        _declare(stack, namespace)
        engine = _interrupted(stack, api, namespace, way.cut)
        wait_until(lambda: way.refused > 0)
        engine.kill()
        engine.communicate()
        way.mend()
        assert stack.backend.locks(stack.name)
        _finish(stack, api, namespace)
