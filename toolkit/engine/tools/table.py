"""The tools of the simulated cluster by name: commands and data."""

from toolkit.engine.tools.data import DATA
from toolkit.engine.tools.modules import MODULES

MODULE_OF = {binary.name: (module, binary) for module in MODULES for binary in module.binaries}
DATA_OF = {data.name: data for data in DATA}
MPI_OPERATORS = {"v1alpha2": "mpi-operator", "v2beta1": "mpi-operator-v2beta1"}
"""Generation of MPIJob -> the tool that is its operator."""
NAMES = (*MODULE_OF, *DATA_OF)
JOB_CONTROLLERS = {
    **{name: (name, f"{name}-manifests") for name in ("kueue", "jobset", "trainer")},
    "cert_manager": ("cert-manager", "cert-manager-manifests", "cert-manager-chart"),
}
"""Controller of jobs, or what it needs, that a stack may install -> its tools."""
OLM_TOOLS = ("operator-catalogues", "olm", "catalog")
"""In the order in which they start."""
GPU_OPERATOR_TOOLS = ("gpu-operator", "gpu-operator-files")
DRA_TOOLS = ("compute-domain-controller", "dra-driver-files")
"""Of NVIDIA's driver for claims: the controller of ComputeDomains, and its templates and definitions."""
USUAL = tuple(name for name in NAMES if not (DATA_OF[name] if name in DATA_OF else MODULE_OF[name][0]).on_demand)
"""Tools that are built by default."""
