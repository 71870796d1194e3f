"""Container-native Storage Scale: not in OperatorHub, but installed by IBM's manifest (toolkit.simulator.bootstrap)."""

from toolkit.simulator.actors import images
from toolkit.simulator.actors.package import Package
from toolkit.simulator.actors.scale_operator import ScaleOperator

PACKAGES: tuple[Package, ...] = ()
ACTORS = ((images.SCALE_OPERATORS, "", ScaleOperator),)
