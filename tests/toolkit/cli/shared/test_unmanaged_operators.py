"""Operators that another tool has installed."""

from types import SimpleNamespace
from typing import Any

from components.operators.olm_operator import OlmOperatorArgs
from toolkit.cli.shared import unmanaged_operators

PLACE, SPACE = "gpu.operator", "gpus"
GPU = OlmOperatorArgs(installed=True, namespace=SPACE, package="gpu-operator-certified", channel="v25.10")
VERSION = {"metadata": {"name": "gpu-operator-certified.v25.10.1", "namespace": SPACE}}


def chart(image: str) -> dict[str, Any]:
    """Return the Deployment of a chart's controller."""
    pods = {"spec": {"containers": [{"name": "main", "image": image}]}}
    return {"metadata": {"name": "gpu-operator", "namespace": SPACE}, "spec": {"template": pods}}


def problem(channel: str = "v25.10", **existing: dict[str, Any]) -> str:
    """Return why a stack cannot use the GPU Operator; `existing` are objects by kind."""
    cluster: Any = SimpleNamespace(
        get=lambda path: {} if path == "/apis/nvidia.com" and existing else None,
        list=lambda kind, _: [existing[kind.kind]] if kind.kind in existing else [],
    )
    return unmanaged_operators.problem(PLACE, GPU.model_copy(update={"channel": channel}), cluster)


def test_an_operator_of_another_version_is_refused() -> None:
    """The version is that of OLM's object or of the controller's image; settings for another version are refused."""
    assert problem(ClusterServiceVersion=VERSION) == ""
    assert problem(Deployment=chart("nvcr.io/nvidia/gpu-operator:v25.10.1")) == ""
    assert problem(Deployment=chart("mirror/other:v1.2")) == ""
    assert problem("v26.3", ClusterServiceVersion=VERSION) == (
        f"{PLACE}.channel v26.3: ClusterServiceVersion gpus/gpu-operator-certified.v25.10.1 is version 25.10, and the "
        "settings are for 26.3; set the channel to that of 25.10"
    )
    assert "Deployment gpus/gpu-operator is version 24.9" in problem(
        Deployment=chart("nvcr.io/nvidia/gpu-operator:v24.9.0")
    )


def test_an_operator_that_is_not_there_is_refused() -> None:
    """Where the cluster serves no kind of the operator, it is not installed."""
    assert "the cluster does not serve nvidia.com" in problem()
