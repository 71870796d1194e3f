"""Container-native Storage Scale: not in OperatorHub, but installed by IBM's manifest (simulator.bootstrap)."""

from simulator.actors import images
from simulator.actors.package import Package
from simulator.actors.scale_operator import ScaleOperator

PACKAGES: tuple[Package, ...] = ()
ACTORS = ((images.SCALE_OPERATORS, "", ScaleOperator),)
