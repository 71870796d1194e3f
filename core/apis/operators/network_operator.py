"""NVIDIA's Network Operator."""

from core.apis.operator import Operator, Upgrade

OPERATOR = Operator(
    package="nvidia-network-operator",
    api_groups=("mellanox.com",),
    images=("network-operator",),
    upgrade=Upgrade(
        "network drivers and RDMA device plugins start again, node by node, on {nodes}: jobs there lose their network",
        "RDMA devices",
        True,
    ),
    numbered_channels=True,
)
