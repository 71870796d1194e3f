"""Kubeflow Trainer, which no catalogue has: the program declares its Deployment."""

from simulator.actors import images
from simulator.actors.package import Package
from simulator.actors.trainer import TrainerManager

PACKAGES: tuple[Package, ...] = ()
ACTORS = ((images.TRAINER_MANAGERS, "", TrainerManager),)
