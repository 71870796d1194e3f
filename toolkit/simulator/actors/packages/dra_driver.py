"""NVIDIA's driver for dynamic resource allocation, which its chart or the GPU operator installs: its three programs.

Its plugin and its daemons are simulated; the controller of ComputeDomains is the real one.
"""

from toolkit.simulator.actors import images
from toolkit.simulator.actors.compute_domains import ComputeDomainController, ComputeDomainDaemon
from toolkit.simulator.actors.dra_plugin import KubeletPlugin
from toolkit.simulator.actors.package import Package

PACKAGES: tuple[Package, ...] = ()
ACTORS = (
    (images.DRA_DRIVERS, "kubelet-plugin", KubeletPlugin),
    (images.DRA_DRIVERS, "compute-domain-controller", ComputeDomainController),
    (images.DRA_DRIVERS, "compute-domain-daemon", ComputeDomainDaemon),
)
