"""NVIDIA's GPU Operator."""

from core.apis.operator import Operator, Upgrade

OPERATOR = Operator(
    package="gpu-operator-certified",
    api_groups=("nvidia.com",),
    images=("gpu-operator",),
    upgrade=Upgrade(
        "GPU drivers and device plugins start again, node by node, on {nodes}: jobs there lose their GPUs", "GPUs", True
    ),
    numbered_channels=True,
)
