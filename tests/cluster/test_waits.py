"""Updates whose operators fail or are slow: they end by the operator's message, or go on, and the state is whole.

Run with the plugins that are installed: `HPC_PLUGINS` takes the official ones.
"""

import json
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

import pytest

from apis import kinds
from simulator import names
from tests.support.clusters import FULL, require_tools
from tests.support.lab import Lab, checkout, eventually

pytestmark = pytest.mark.cluster

REGISTRY = "registry.redhat.io"
"""Where the simulated NFD operator of OpenShift 4.4 comes from."""
_OWN_LIMIT = 300.0
"""Far below the time-outs of the update, in seconds; how soon it ends is printed, as a machine may be busy."""
PROD = ("--stack", "prod", "--name", "default")


@pytest.fixture
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """Give a lab whose cluster is not up yet."""
    require_tools(FULL)
    with checkout(tmp_path_factory.mktemp("waits")) as made:
        yield made


def annotate(lab: Lab, annotations: dict[str, str | None]) -> None:
    """Set annotations of all nodes."""
    for node in lab.api.list(kinds.NODE)["items"]:
        lab.api.annotate(kinds.NODE, node["metadata"]["name"], annotations)


def since(lab: Lab, namespace: str, reason: str, kind: str = "Pod") -> float:
    """Return the seconds since the first event of that reason on objects of a kind in a namespace."""
    times = [
        datetime.fromisoformat(event["firstTimestamp"])
        for event in lab.api.list(kinds.EVENT, namespace)["items"]
        if event["reason"] == reason and event["involvedObject"]["kind"] == kind
    ]
    return (datetime.now(UTC) - min(times)).total_seconds()


@contextmanager
def at_least(seconds: float) -> Iterator[None]:
    """Fail unless what is inside takes so long: a test of something slow is one."""
    begin = time.monotonic()
    yield
    assert time.monotonic() - begin >= seconds


def test_an_operator_whose_image_cannot_be_pulled_ends_the_update_and_a_slow_one_does_not(lab: Lab) -> None:
    """A failed pull ends the update within a minute by the pod's message; slow pulls are waited for (R-3.4.1-5)."""
    lab.works("sim", "up")
    annotate(lab, {names.REGISTRIES_DOWN: json.dumps([REGISTRY])})
    said = lab.fails("up")
    assert since(lab, "openshift-nfd", "Failed") < _OWN_LIMIT, said
    assert re.search(r"ImagePullBackOff: .*lookup registry\.redhat\.io: no such host", said), said
    assert re.search(r"^stack dev is not up\n(ClusterServiceVersion|Subscription) openshift-nfd/nfd", said, re.M), said
    assert "waits at most 35 s for " in said

    annotate(lab, {names.REGISTRIES_DOWN: None})
    annotate(lab, {names.PULL_SECONDS: "20"})
    remedy = re.search(r"`oc delete pod -n (\S+) (nfd-operator-\S+)`", said)
    assert remedy, said
    lab.api.delete(kinds.POD, remedy[2], remedy[1])

    def patient(settings: dict[str, object]) -> None:
        settings["timeouts"] = {"failed_after": 5}
        settings["stages"] = []  # each job would pull, too

    lab.change(patient)
    with at_least(20):
        said = lab.works("up")
    assert re.search(r"waits for ClusterServiceVersion openshift-.*Pulling image", said), said
    assert "unchanged" in lab.works("preview", "--expect-no-changes")


def test_a_build_and_a_driver_that_fail_end_the_update_with_their_last_lines(lab: Lab) -> None:
    """A failed build, and then a failed driver, end the update with their last log lines."""
    lab.works("sim", "up", *PROD)
    for node in lab.api.list(kinds.NODE)["items"]:
        if names.PROFILE in node["metadata"]["annotations"]:
            lab.api.annotate(kinds.NODE, node["metadata"]["name"], {names.PROFILE: "dgx1-v100-16gb"})
    settings = lab.root / "Pulumi.prod.yaml"
    good = settings.read_text()
    containerfile = "FROM scratch\\nRUN exit 3\\n"
    settings.write_text(
        good.replace("source: {kind: ngc}", f'source: {{kind: inline, containerfile: "{containerfile}"}}', 1)
    )
    said = lab.fails("up", *PROD)
    assert "ImageStream adas/tensorflow: Build tensorflow-1: Failed: DockerBuildFailed: Dockerfile build" in said, said
    assert 'building at STEP "RUN exit 3": while running runtime: exit status 3' in said, said

    # The first update ends so early that Kueue may only just start: its webhooks would refuse the next preview.
    eventually(lambda: not _starts(lab, "kueue-controller-manager", "openshift-kueue-operator"), "Kueue still starts")
    # The build that failed runs again, and the driver need not be watched as long as by default.
    settings.write_text(good.replace("    release:", "    timeouts: {failed_after: 15}\n    release:", 1))
    said = lab.fails("up", *PROD)
    assert "ClusterPolicy gpu-cluster-policy: " in said, said
    assert re.search(r"last log lines of pod nvidia-gpu-operator/nvidia-driver-daemonset-\w+, container nvidia", said)
    assert re.search(r"NVRM: The .*V100.* NVIDIA driver will ignore this GPU", said), said
    assert "created ImageStreamPatch adas-tensorflow-built" in said or "updated ImageStreamPatch adas-ten" in said, said


def _starts(lab: Lab, deployment: str, namespace: str) -> bool:
    found = lab.api.find(kinds.DEPLOYMENT, deployment, namespace)
    return found is not None and not found.get("status", {}).get("readyReplicas")
