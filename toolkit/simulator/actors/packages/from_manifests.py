"""Operators that no catalogue has: the program declares their Deployments, or IBM's manifest installs them."""

from toolkit.simulator.actors import images
from toolkit.simulator.actors.mpi import MpiOperator
from toolkit.simulator.actors.package import Package
from toolkit.simulator.actors.scale_operator import ScaleOperator
from toolkit.simulator.actors.trainer import TrainerManager

PACKAGES: tuple[Package, ...] = ()
ACTORS = (
    (images.MPI_OPERATORS, "", MpiOperator),
    (images.SCALE_OPERATORS, "", ScaleOperator),
    (images.TRAINER_MANAGERS, "", TrainerManager),
)
