"""Hardware profiles."""

import pytest

from hardware.profiles import profile


def test_dgx1_is_the_machine_of_the_redpaper() -> None:
    """Prevents a wrong capacity from spreading: quotas, limits and the RDMA configuration derive from these."""
    dgx1 = profile("dgx1-v100-16gb")
    assert (dgx1.gpus, dgx1.cpus, dgx1.memory_gib) == (8, 80, 512)
    assert [(hca.name, hca.netdev, hca.numa, hca.gpus) for hca in dgx1.hcas] == [
        ("mlx5_0", "ib0", 0, (0, 1)),
        ("mlx5_1", "ib1", 0, (2, 3)),
        ("mlx5_2", "ib2", 1, (4, 5)),
        ("mlx5_3", "ib3", 1, (6, 7)),
    ]


def test_unknown_profile_names_the_known_ones() -> None:
    """Prevents a bare KeyError for a typing mistake in the settings."""
    with pytest.raises(ValueError, match="unknown hardware profile 'dgx9'; known: dgx1-v100-16gb"):
        profile("dgx9")
