"""Storage classes, and the claims that they serve."""

import re
from collections.abc import Iterator, Mapping

from pydantic import Field

from core.apis.kinds import PERSISTENT_VOLUME_CLAIM, STORAGE_CLASS
from core.apis.names import SCALE_CSI_DRIVER
from core.apis.quantity import amount
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.manifests.values import Path
from policies.rule import Parameters, Rule, Severity


class NoStaticStorageClass(Parameters):
    """Names that stand for no class."""

    reserved: tuple[str, ...] = Field(default=("static",), description="names that no StorageClass may have")


def _no_static_storage_class(subject: Obj, _: Inventory, parameters: NoStaticStorageClass) -> Iterator[Violation]:
    subject.read("metadata", "name")
    if subject.name in parameters.reserved:
        yield subject.violation(
            f"{subject.name} is the class of static volumes, which no provisioner serves", "metadata", "name"
        )


NO_STATIC_STORAGE_CLASS = Rule(
    name="no-static-storage-class",
    what="No StorageClass has the class name of static volumes (static).",
    why="Claims for static volumes use that class so that nothing is provisioned for them. Once a StorageClass has "
    "that name, a claim that waits for its volume gets a new, empty one.",
    remedy="Give the StorageClass another name",
    source="R-4.2-5",
    severity=Severity.MANDATORY,
    parameters=NoStaticStorageClass,
    examine=_no_static_storage_class,
    kinds=(STORAGE_CLASS,),
)


_PARAMETERS = "parameters"
_FILE_SYSTEM, _VERSION, _TYPE, _FOLDER = "volBackendFs", "version", "filesetType", "volDirBasePath"
_PARENT, _INODES, _COMPRESSION, _TIER = "parentFileset", "inodeLimit", "compression", "tier"
_SHARED, _PERMISSIONS, _CACHE = "shared", "permissions", "volumeType"
_DEPENDENT, _INDEPENDENT, _GROUPS = "dependent", "independent", "2"
_FORMS: Mapping[str, tuple[str, str]] = {
    _VERSION: ("[12]", '"1" or "2"'),
    _TYPE: (f"{_DEPENDENT}|{_INDEPENDENT}", f"{_DEPENDENT} or {_INDEPENDENT}"),
    _INODES: (r"0*([1-9][0-9]{4,18}|[2-9][0-9]{3}|1[1-9][0-9]{2}|10[3-9][0-9]|102[4-9])", "a number from 1024 on"),
    _PERMISSIONS: ("[0-7]{3}", "three octal digits, such as 775"),
    _SHARED: ("(?i:true|false)", '"true" or "false"'),
    _COMPRESSION: ("(?i:true|false|z|lz4|zfast|alphae|alphah)", '"true", "false", z, lz4, zfast, alphae or alphah'),
}
"""Forms of values, and how a remedy describes each."""


def _scale_class_parameters(subject: Obj, _: Inventory, __: Parameters) -> Iterator[Violation]:
    if subject.read("provisioner") != SCALE_CSI_DRIVER:
        return
    if not subject.text(_PARAMETERS, _FILE_SYSTEM) and not subject.hidden(_PARAMETERS, _FILE_SYSTEM):
        message = f"names no file system ({_FILE_SYSTEM})"
        yield subject.violation(message, _PARAMETERS).with_remedy(f"Set {_FILE_SYSTEM} to the name of a file system")
    parameters = {key: value for key in subject.mapping(_PARAMETERS) if (value := subject.text(_PARAMETERS, key))}
    for key, (form, words) in _FORMS.items():
        if key in parameters and re.fullmatch(form, parameters[key]) is None:
            yield subject.violation(f"{key} is {parameters[key][:80]}", _PARAMETERS, key).with_remedy(f"Write {words}")
    for key, others in _excluded(parameters):
        for other in others:
            if other in parameters:
                yield subject.violation(f"{other} and {key} exclude each other", _PARAMETERS, other)


def _excluded(parameters: Mapping[str, str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield what these parameters mean, with the parameters that the driver refuses beside it."""
    fileset = parameters.get(_TYPE, "" if _FOLDER in parameters else _INDEPENDENT)
    if parameters.get(_VERSION) == _GROUPS:
        yield f"{_VERSION} {_GROUPS}", (_TYPE, _PARENT)
    elif _CACHE in parameters:
        yield _CACHE, (_VERSION, _TYPE, _PARENT)
    elif fileset == _DEPENDENT:
        yield f"{_TYPE} {_DEPENDENT}", (_INODES,)
    elif fileset == _INDEPENDENT:
        yield f"{_TYPE} {_INDEPENDENT}{'' if _TYPE in parameters else ', the default,'}", (_PARENT,)
    elif not fileset:
        compressed = (_COMPRESSION,) if parameters.get(_COMPRESSION) != "false" else ()
        yield f"{_FOLDER} without {_TYPE}", (_INODES, _PARENT, *compressed, _TIER)
    if parameters.get(_SHARED, "").lower() == "true":
        yield f"{_SHARED} {parameters[_SHARED]}", (_PERMISSIONS,)


SCALE_CLASS_PARAMETERS = Rule(
    name="scale-class-parameters",
    what=f"A StorageClass of Spectrum Scale's CSI driver names a file system ({_FILE_SYSTEM}), and has no parameters "
    "with other values than the driver takes, or that it refuses beside each other.",
    why="The API server accepts any parameters, and the class is made. Each claim of it stays Pending, and so does its "
    "pod: the driver refuses every request with InvalidArgument (filesetType and version=2 must not be specified "
    "together in storageClass), in the events of the claim alone.",
    remedy="Delete one of the two; parameters of an existing class cannot be changed, so delete it and create it again",
    source="github.com/IBM/ibm-spectrum-scale-csi/blob/master/driver/csiplugin/gpfs_util.go and issues/583",
    severity=Severity.MANDATORY,
    examine=_scale_class_parameters,
    kinds=(STORAGE_CLASS,),
)


_REQUEST: Path = ("spec", "resources", "requests", "storage")
_PLAIN_FOLDER: Path = ("parameters", "volDirBasePath")
"""Parameter of classes whose volumes are plain folders, which have no quota."""
_MIB = 1 << 20


class ScaleClaimSize(Parameters):
    """The file system."""

    block: int = Field(
        default=4 * _MIB,
        gt=0,
        description="block size of the file system in bytes (mmlsfs -B); default: 4 MiB, Scale's own",
    )


def _scale_claim_size(subject: Obj, inventory: Inventory, parameters: ScaleClaimSize) -> Iterator[Violation]:
    if subject.text("spec", "volumeName"):
        return  # a volume that exists
    quantity = subject.read(*_REQUEST)
    size, name = amount(quantity), subject.read("spec", "storageClassName")
    if size is None or size >= parameters.block or not isinstance(name, str):
        return
    provisioner = inventory.get(STORAGE_CLASS, name)
    if provisioner is None or provisioner.read("provisioner") != SCALE_CSI_DRIVER or provisioner.read(*_PLAIN_FOLDER):
        return
    message = f"requests {quantity}, and a block of the file system has {parameters.block / _MIB:g} MiB"
    yield subject.violation(message, *_REQUEST)


SCALE_CLAIM_SIZE = Rule(
    name="scale-claim-size",
    what="A claim of a class of Spectrum Scale's CSI driver requests at least one block of the file system, 4 MiB by "
    "default.",
    why="A fileset's quota is counted in blocks. Drivers before 2.3 compare it with the request, find another number, "
    "and leave the claim Pending (ibm-spectrum-scale-csi #423); later ones make a volume of 1 GiB, which quotas of the "
    "namespace do not count.",
    remedy="Request 1Gi or more; of what is smaller, put several into one volume, each with a subPath",
    source="platform-facts 1.9; github.com/IBM/ibm-spectrum-scale-csi/issues/423, pull/436",
    severity=Severity.MANDATORY,
    parameters=ScaleClaimSize,
    examine=_scale_claim_size,
    kinds=(PERSISTENT_VOLUME_CLAIM,),
    links=True,
)
