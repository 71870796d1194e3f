"""Kubeflow Trainer, which no catalogue has: the program declares its Deployment."""

from toolkit.simulator.actors import images
from toolkit.simulator.actors.package import Package
from toolkit.simulator.actors.trainer import TrainerManager

PACKAGES: tuple[Package, ...] = ()
ACTORS = ((images.TRAINER_MANAGERS, "", TrainerManager),)
