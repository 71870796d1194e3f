"""File systems from which GPUs read without the CPU's memory: the list of nvidia-fs 2.30 (NVIDIA/gds-nvidia-fs)."""

from typing import Literal

DirectFileSystem = Literal[
    "ext4-nvme", "xfs-nvme", "nfs-rdma", "exascaler", "wekafs", "vast", "storage-scale", "beegfs"
]
"""ext4 and XFS on NVMe or NVMe-oF, NFS over RDMA, DDN EXAScaler, WekaFS, VAST, IBM Storage Scale, BeeGFS."""

SCALE: DirectFileSystem = "storage-scale"
