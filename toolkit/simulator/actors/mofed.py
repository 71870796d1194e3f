"""The label by which the two operators of NVIDIA agree on whose driver comes first."""

from core.apis.names import OFED_WAIT

WAIT = OFED_WAIT
"""The GPU driver that brings nvidia-peermem waits for `false` (NVIDIA/gpu-operator PR 1942).
"""
ADAPTER = "feature.node.kubernetes.io/pci-15b3.present"
