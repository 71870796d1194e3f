"""Updates whose operators fail or are slow: they end by the operator's message, or go on, and the state is whole.

The tests build on each other in the order of the file. Run with the plugins that are installed: `HPC_PLUGINS` takes the
official ones.
"""

import json
import re
import time
from collections.abc import Iterator

import pytest

from core.apis import kinds
from tests.support.clusters import FULL, require_tools
from tests.support.lab import Lab, checkout, eventually
from toolkit.simulator import names

pytestmark = pytest.mark.cluster

REGISTRY = "nvcr.io"
"""Where the operators of GPUs and of the network come from."""
_OWN_LIMIT = 300.0
"""Far below the time-outs of the update, in seconds; how soon it ends is printed, as a machine may be busy."""
PROD = ("--stack", "prod", "--name", "default")


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """Give a lab whose GPUs the driver does not support, and whose nodes do not reach a registry."""
    require_tools(FULL)
    with checkout(tmp_path_factory.mktemp("waits")) as made:
        made.works("sim", "up", *PROD)
        for node in made.api.list(kinds.NODE)["items"]:
            if names.PROFILE in node["metadata"]["annotations"]:
                made.api.annotate(kinds.NODE, node["metadata"]["name"], {names.PROFILE: "dgx1-v100-16gb"})
        annotate(made, {names.REGISTRIES_DOWN: json.dumps([REGISTRY])})
        yield made


def annotate(lab: Lab, annotations: dict[str, str | None]) -> None:
    """Set annotations of all nodes."""
    for node in lab.api.list(kinds.NODE)["items"]:
        lab.api.annotate(kinds.NODE, node["metadata"]["name"], annotations)


def test_a_build_that_fails_ends_the_update(lab: Lab) -> None:
    """A failed build ends the update with its last log lines."""
    settings = lab.root / "Pulumi.prod.yaml"
    good = settings.read_text()
    containerfile = "FROM scratch\\nRUN exit 3\\n"
    settings.write_text(
        good.replace("source: {kind: ngc}", f'source: {{kind: inline, containerfile: "{containerfile}"}}', 1)
    )
    said = lab.fails("up", *PROD)
    assert "ImageStream adas/tensorflow: Build tensorflow-1: Failed: DockerBuildFailed: Dockerfile build" in said, said
    assert 'building at STEP "RUN exit 3": while running runtime: exit status 3' in said, said
    settings.write_text(good)


def test_an_operator_whose_image_cannot_be_pulled_ends_the_update(lab: Lab) -> None:
    """A failed pull ends the update within a minute by the pod's message; the build runs again."""
    # The first update ends so early that Kueue may only just start: its webhooks would refuse the next preview.
    eventually(lambda: not _starts(lab, "kueue-controller-manager", "openshift-kueue-operator"), "Kueue still starts")
    begin = time.monotonic()
    said = lab.fails("up", *PROD)
    assert time.monotonic() - begin < _OWN_LIMIT, said
    assert re.search(r"ImagePullBackOff: .*lookup nvcr\.io: no such host", said), said
    assert re.search(r"^stack prod is not up\n(ClusterServiceVersion|Subscription) nvidia-", said, re.M), said
    assert "waits at most 35 s for " in said
    assert "created ImageStreamPatch adas-tensorflow-built" in said or "updated ImageStreamPatch adas-ten" in said, said

    # Longer than the next preview, on a machine with other work as well.
    annotate(lab, {names.REGISTRIES_DOWN: None, names.PULL_SECONDS: "40"})
    remedies = re.findall(r"`oc delete pod -n (\S+) (\S+)`", said)
    assert remedies, said
    for namespace, name in set(remedies):
        lab.api.delete(kinds.POD, name, namespace)


def test_a_driver_that_fails_ends_the_update_and_a_slow_operator_does_not(lab: Lab) -> None:
    """A failed driver ends the update with its last log lines; pulls that take longer than that are waited for."""
    settings = lab.root / "Pulumi.prod.yaml"
    settings.write_text(
        settings.read_text().replace("    release:", "    timeouts: {failed_after: 15}\n    release:", 1)
    )
    said = lab.fails("up", *PROD)
    # Which pulls the update meets depends on how long the preview took: an operator's own may have ended by then.
    assert re.search(r"waits for (ClusterServiceVersion nvidia-|NicClusterPolicy ).*Pulling image", said), said
    assert re.search(r"^stack prod is not up\nClusterPolicy gpu-cluster-policy: pod ", said, re.M), said
    assert re.search(
        r"last log lines of pod nvidia-gpu-operator/nvidia-driver-daemonset-[\w.-]+, container nvidia", said
    )
    assert re.search(r"NVRM: The .*V100.* NVIDIA driver will ignore this GPU", said), said


def _starts(lab: Lab, deployment: str, namespace: str) -> bool:
    found = lab.api.find(kinds.DEPLOYMENT, deployment, namespace)
    return found is not None and not found.get("status", {}).get("readyReplicas")
