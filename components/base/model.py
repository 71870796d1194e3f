"""The base of all settings and arguments, and the value types that they share."""

from typing import Annotated, Any, TypeVar

from pydantic import ConfigDict, Field, StringConstraints
from pydantic.fields import FieldInfo

from core.model import MERGED_BY
from core.model import Model as Model  # noqa: PLC0414 - settings and arguments import it with the values
from core.model import merged_by as merged_by  # noqa: PLC0414

M = TypeVar("M", bound=Model)

DnsLabel = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$")]
"""RFC 1123 label, as names of namespaces, services and pods' hosts must be."""

DnsName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?$")]
"""RFC 1123 subdomain: names of most objects, and of nodes."""

Image = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][A-Za-z0-9_./:@-]*[:@][A-Za-z0-9_:.+-]+$")]
"""A pinned image reference: with a tag or a digest."""

MigSize = Annotated[str, StringConstraints(pattern=r"^[1-9]g\.[0-9]{1,3}gb$")]
"""A MIG instance, by its slices and memory."""
Mtu = Annotated[int, Field(ge=1280, le=9216)]
"""Bytes of a link: 1280, which IPv6 needs, to 9216, which the fabric's switches take."""

NumberOrShare = Annotated[str, StringConstraints(pattern=r"^([1-9][0-9]*|[1-9][0-9]?%|100%)$")]
"""How many of the nodes at the same time: a number such as 2, or a share such as 10%."""

Quantity = Annotated[str, StringConstraints(pattern=r"^[0-9]+(\.[0-9]+)?(m|k|Ki|M|Mi|G|Gi|T|Ti|P|Pi)?$")]
"""A Kubernetes quantity, e.g. 100Gi."""

Seconds = Annotated[int, Field(gt=0, le=7 * 24 * 3600)]
"""A duration in seconds, at most a week."""


def merging_keys(field: FieldInfo) -> tuple[str, ...]:
    """Return the fields by which entries of a list are known; none where it is not a list that merges."""
    extra = field.json_schema_extra
    keys = extra.get(MERGED_BY) if isinstance(extra, dict) else None
    return tuple(map(str, keys)) if isinstance(keys, list) else ()


def fields_of(base: type[M], derived: M) -> dict[str, Any]:
    """Return the fields that a model has from `base`, by name: settings hand them to a component's arguments."""
    return {name: getattr(derived, name) for name in base.model_fields}


def int_or_share(value: NumberOrShare) -> int | str:
    """Return a number or a share as the API takes it: numbers are not texts there."""
    return int(value) if value.isdecimal() else value


class Account(Model):
    """User of a service; a secret, of which neither a traceback nor an error shows anything."""

    model_config = ConfigDict(hide_input_in_errors=True)

    username: str = Field(min_length=1, repr=False)
    password: str = Field(min_length=1, repr=False)


class Installable(Model):
    """An operator, or the object that configures it: the stack declares it, or the cluster has it."""

    installed: bool = Field(
        default=False,
        description="another tool (Argo CD, Helm, another team) has installed and configured the operator: it is "
        "used, its version is compared with the channel (of MPI: the image), and nothing of it is declared, whatever "
        "else is set",
    )


Repository = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9._/-]*(:[0-9]+[a-z0-9._/-]*)?$")]
"""A registry with a folder, e.g. nvcr.io/nvidia."""
ImageName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]*$")]
"""The last part of an image's name."""
OperandVersion = Annotated[
    # No \w: all letters of Unicode, 128 times, take 7 ms of every start.
    str, StringConstraints(pattern=r"^([A-Za-z0-9_][A-Za-z0-9_.+-]{0,127}|sha256:[0-9a-f]{64})$")
]
"""A tag, or a digest: the operators prepend `:` or `@` themselves."""


class Operand(Model):
    """One image. An operator joins the parts as they are, so that a version alone would name no image."""

    repository: Repository = Field(description="registry and path of the image")
    image: ImageName = Field(description="image name below `repository`")
    version: OperandVersion = Field(description="tag or digest")
