"""The MPI operator, which no catalogue has: the program declares its Deployment."""

from toolkit.simulator.actors import images
from toolkit.simulator.actors.mpi import MpiOperator
from toolkit.simulator.actors.package import Package

PACKAGES: tuple[Package, ...] = ()
ACTORS = ((images.MPI_OPERATORS, "", MpiOperator),)
