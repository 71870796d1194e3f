"""What several rooms must know of an operator from OperatorHub: the form of the declarations in `core.apis.operators`.

They are named tuples, as every command imports them: the classes of data models take longer to define.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, NamedTuple

from core.apis.kind import Kind

OPERATOR_HUB = (1, 13)
"""Kubernetes version of OpenShift 4.1, the first release with OperatorHub."""


class Upgrade(NamedTuple):
    """What an upgrade of the operator does to nodes and jobs, as reviews word it."""

    consequence: str
    """A clause; `{nodes}` stands for the nodes that it is about."""
    nodes: Literal["every node", "GPUs", "RDMA devices"] = "every node"
    """Nodes with which devices, or every node."""
    jobs: bool = False
    """Whether jobs lose devices by it."""


class Instance(NamedTuple):
    """The one object that makes the operator install its controller."""

    kind: Kind
    condition: str = "Available"
    """Status condition that is True when the controller is installed."""
    removal: str = ""
    """What the deletion of the object takes with it, as reviews word it; a clause."""


class Recommended(NamedTuple):
    """How its documentation subscribes to the operator; a setting of the same name overrides each."""

    namespace: str
    source: str = "redhat-operators"
    own_namespace_only: bool = True
    channels: Mapping[str, str] = MappingProxyType({})
    """Name of an OpenShift release -> channel; the setting is required for releases that are not in it."""
    kubernetes: tuple[int, int] = OPERATOR_HUB
    """First Kubernetes version that the operator supports."""


class Operator(NamedTuple):
    """One operator, by its package in the catalogue."""

    package: str
    upgrade: Upgrade
    recommended: Recommended | None = None
    """For operators that `operators` of the settings installs; others have settings of their own."""
    instance: Instance | None = None
    """None: it starts by itself, or `core.apis.kinds` has its kind."""
    clusterwide: bool = False
    """Whether its only install mode is AllNamespaces."""
    api_groups: tuple[str, ...] = ()
    """Groups of its kinds: where it is installed, in whatever way, the cluster serves one of them."""
    images: tuple[str, ...] = ()
    """Names of its controller's image, without registry and folder, in its distributions."""
    numbered_channels: bool = False
    """Whether a channel whose name ends in a minor version, such as v26.3, has versions 26.3.z alone."""
