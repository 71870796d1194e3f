"""The label by which the two operators of NVIDIA agree on whose driver comes first."""

WAIT = "network.nvidia.com/operator.mofed.wait"
"""On nodes with an adapter: `true` while the network operator's driver is not ready there, `false` otherwise.

The GPU driver that brings nvidia-peermem waits for `false` (NVIDIA/gpu-operator PR 1942, platform-facts 1.1).
"""
ADAPTER = "feature.node.kubernetes.io/pci-15b3.present"
