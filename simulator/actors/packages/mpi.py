"""The MPI operator, which no catalogue has: the program declares its Deployment."""

from simulator.actors import images
from simulator.actors.mpi import MpiOperator
from simulator.actors.package import Package

PACKAGES: tuple[Package, ...] = ()
ACTORS = ((images.MPI_OPERATORS, "", MpiOperator),)
