"""What is wrong with a field, and the remedy: in place of what pydantic says of it.

No message shows a regular expression: FORMS has what texts of a form are and how they look, by the pattern.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

_PROBLEMS = {
    "missing": ("is missing", "add it"),
    "extra_forbidden": ("is not a field here", "remove it or correct its name"),
    "literal_error": ("is not {expected}", "write one of these"),
    "enum": ("is not {expected}", "write one of these"),
    "union_tag_invalid": ("is not {expected_tags}", "write one of these"),
    "union_tag_not_found": ("is missing", "add it"),
    "string_type": ("is not text", "write text, a number in quotes"),
    "string_pattern_mismatch": ("is not in the form of this field", "docs/reference/settings.md describes it"),
    "string_too_short": ("needs {min_length} or more characters", "write more"),
    "string_too_long": ("has more than {max_length} characters", "shorten it"),
    "bool_type": ("is not true or false", "write one of them"),
    "bool_parsing": ("is not true or false", "write one of them"),
    "int_type": ("is not a whole number", "write one"),
    "int_parsing": ("is not a whole number", "write one"),
    "int_parsing_size": ("is too large a number", "lower it"),
    "int_from_float": ("is not a whole number", "write one"),
    "float_type": ("is not a number", "write one"),
    "float_parsing": ("is not a number", "write one"),
    "finite_number": ("is not a finite number", "write one"),
    "greater_than": ("is not above {gt}", "raise it"),
    "greater_than_equal": ("is below {ge}", "raise it"),
    "less_than": ("is not below {lt}", "lower it"),
    "less_than_equal": ("exceeds {le}", "lower it"),
    "too_short": ("has {actual_length} entries and needs {min_length}", "add what is missing"),
    "too_long": ("has {actual_length} entries, and may have {max_length}", "leave some out"),
    "tuple_type": ("is not a list", "write a list, e.g. [a, b]"),
    "dict_type": ("is not a map", "write a map, e.g. {{a: b}}"),
    "model_type": ("is not a map of fields", "write its fields below it"),
    "model_attributes_type": ("is not a map of fields", "write its fields below it"),
    "invalid_key": ("has a key that is not text", "write it in quotes"),
    "ip_v4_address": ("is not an IPv4 address", "write one as 192.168.1.2"),
    "ip_v4_interface": ("is not an IPv4 address with its prefix", "write one as 192.168.1.2/24"),
    "ip_v4_network": ("is not an IPv4 network", "write its own address and prefix, as 192.168.1.0/24"),
    "date_type": ("is not a date", "write one as 2027-06-30"),
    "date_parsing": ("is not a date", "write one as 2027-06-30"),
    "date_from_datetime_parsing": ("is not a date", "write one as 2027-06-30"),
    "date_from_datetime_inexact": ("is not a date", "write one as 2027-06-30"),
}
"""By pydantic's name of an error: what is wrong, with fields of its context, and what to do."""
OWN = ("value_error", "assertion_error")
"""Errors that validators of the project raise, whose messages have a remedy."""
_OTHER = ("is not what this field takes", "correct it")


def problem(error: Mapping[str, Any]) -> str:
    """Return what is wrong, to follow the field's name; of a validator's error its message, with the remedy."""
    if error["type"] in OWN:
        text: str = error["msg"]
        return text.removeprefix("Value error, ").removeprefix("Assertion failed, ")
    context = error.get("ctx", {})
    if form := FORMS.get(context.get("pattern", "")):
        return f"is not {form.name}"
    return _PROBLEMS.get(error["type"], _OTHER)[0].format_map(context)


def remedy(error: Mapping[str, Any]) -> str:
    """Return what to do, to follow the problem and the value; nothing where the message has it."""
    if error["type"] in OWN:
        return ""
    context = error.get("ctx", {})
    if form := FORMS.get(context.get("pattern", "")):
        return f"; write e.g. {form.example}" if form.example else "; write it in that form"
    return f"; {_PROBLEMS.get(error['type'], _OTHER)[1].format_map(context)}"


def sentence(error: Mapping[str, Any], place: str) -> str:
    """Return what is wrong at a place, and the remedy, without the value."""
    text = problem(error) + remedy(error)
    return f"{place}: {text}" if place else text


def argument(error: Mapping[str, Any]) -> str:
    """Return what is wrong with a component's argument, and the remedy: validators' messages name it themselves."""
    return sentence(error, "" if error["type"] in OWN else ".".join(map(str, error["loc"])))


class Form(NamedTuple):
    """A form of text: what it is called behind `is not`, and an example."""

    name: str
    example: str


_NAME = "a name of lower-case letters, digits and -"
_DOTTED = "a name of lower-case letters, digits, - and ."
_ANY_CASE = "a name of letters, digits, _, . and -"
FORMS = {
    pattern: Form(name, example)
    for pattern, name, example in (
        (r"^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$", f"{_NAME}, up to 63", "team-a"),
        (r"^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$", f"{_NAME}, up to 63", "head-1"),
        (r"^[a-z0-9]([-a-z0-9]{0,38}[a-z0-9])?$", f"{_NAME}, up to 40", "city-scenes"),
        (r"^[a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?$", f"{_DOTTED}, up to 253", "gpu01.lab.example.com"),
        (r"^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$", _DOTTED, "gpu01.lab.example.com"),
        (r"^[a-z0-9][a-z0-9-]*$", _NAME, "doca-driver"),
        (r"^[a-z][a-z0-9-]{0,62}$", f"{_NAME}, the first a letter", "images-per-second"),
        (r"^[a-z_][a-z0-9_]*$", "a name of lower-case letters, digits and _", "front_left"),
        (r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,14}$", f"{_ANY_CASE}, up to 15", "bond0"),
        (r"^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$", f"{_ANY_CASE}, up to 128", "v1.2"),
        (r"^[A-Za-z0-9]([-.A-Za-z0-9]{0,251}[A-Za-z0-9])?$", "a host name", "leaf-1"),
        (r"^[A-Za-z0-9]([\w.-]*[A-Za-z0-9])?$", "a host name", "esxi-01"),
        (r"^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$", "the name of a cluster", "scale.example.com"),
        (r"^[A-Za-z0-9][A-Za-z0-9_.-]*$", _ANY_CASE, "ubuntu18.04"),
        (r"^[A-Za-z0-9_][\w.-]*$", _ANY_CASE, "ess3000_4M"),
        (r"^[A-Za-z0-9_.-]{1,100}$", "the name of a stack", "lab"),
        (r"^[A-Za-z][\w-]*$", "a name of letters, digits, _ and -", "gpuhosts"),
        (r"^[A-Za-z0-9][-A-Za-z0-9_]{0,62}$", "a name of letters, digits, - and _", "batch"),
        (r"^[-._a-zA-Z0-9]+$", "a key of letters, digits, -, _ and .", "api-url"),
        (r"^[a-z][A-Za-z0-9]*$", "the name of a parameter of Storage Scale", "maxMBpS"),
        (r"^[\w./%+-]+$", "a value without spaces", "yes"),
        (r"^[A-Za-z0-9@][A-Za-z0-9_.+:~-]*$", "a name without spaces, commas and quotes", "nvidia-driver-cuda"),
        (r"^[A-Za-z0-9]([-_.A-Za-z0-9]{0,61}[A-Za-z0-9])?$", "the value of a label", "leaf-03"),
        (
            r"^([a-z0-9][-.a-z0-9]{0,252}/)?[A-Za-z0-9]([-_.A-Za-z0-9]{0,61}[A-Za-z0-9])?$",
            "the key of a label",
            "topology.example.com/leaf",
        ),
        (r"^[A-Za-z_][A-Za-z0-9_]*$", "the name of an environment variable", "NCCL_DEBUG"),
        (r"^(-[a-z0-9]+)?$", "a suffix of - with lower-case letters and digits", "-gpu"),
        (r"^[0-9]+(\.[0-9]+)?(m|k|Ki|M|Mi|G|Gi|T|Ti|P|Pi)?$", "a quantity of Kubernetes", "10Ti"),
        (r"^([1-9][0-9]*|[1-9][0-9]?%|100%)$", "a number or a share", "10%"),
        (r"^[1-9][0-9]*[KM]?$", "a number, in thousands with K, in millions with M", "50K"),
        (r"^[1-9]g\.[0-9]{1,3}gb$", "the size of a MIG instance", "1g.5gb"),
        (r"^[0-9]{1,20}$", "the id of a cluster in digits", "16217308676014575381"),
        (r"^[0-9A-F]{8}:[0-9A-F]{8}$", "the uid of a file system", "099B6A7A:5EB99743"),
        (r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$", "a UID", "0b2a6a36-9a3f-4a52-8f0e-3d2f4a1b5c6d"),
        (r"^[0-9a-f]{32}$", "an id of 32 lower-case hex digits", "8a85f9833e1404a9013e3cddf95a0599"),
        (r"^[0-9a-f]{64}$", "a SHA-256 in lower-case hex digits", "0" * 63 + "1"),
        (r"^#[0-9a-f]{6}$", "a colour in lower-case hex digits", "#00ff80"),
        (r"^[0-9a-f]{2}([0-9a-f]{2})?$", "a class of PCI devices in lower-case hex digits", "0302"),
        (r"^[0-9a-f]{4,5}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]$", "a PCI address", "0000:18:00.0"),
        (r"^[0-7]{3}$", "a mode of three octal digits", "755"),
        (r"^s0:c[0-9]{1,4},c[0-9]{1,4}$", "an SELinux level of two categories", "s0:c27,c24"),
        (
            r"^[-.a-z0-9]*(\[[0-9]+(-[0-9]+)?(,[0-9]+(-[0-9]+)?)*\])?[-.a-z0-9]*$",
            "a host, or hosts with a range",
            "gpu[01-04]",
        ),
        (r"^[0-9]{1,3}x[0-9]{1,2}(x[0-9]{1,3})?$", "a layout, pods x GPUs of each", "2x8"),
        (r"^[0-9]+\.[0-9]+$", "a version of two numbers in quotes", "26.3"),
        (r"^[0-9]+\.[0-9]$", "a compute capability in quotes", "9.0"),
        (r"^[0-9]+\.[0-9]+\.[0-9]+$", "a version of three numbers", "4.20.1"),
        (r"^[0-9]+(\.[0-9]+){3}$", "a version of four numbers", "5.2.3.1"),
        (r"^\d+(\.\d+){3}$", "a version of four numbers", "5.0.4.3"),
        (r"^[0-9]+\.[0-9]+-[0-9]+(\.[0-9]+){3}$", "a version of OFED", "24.10-1.1.4.0"),
        (r"^\d+\.\d+-\d+(\.\d+)*$", "a version of OFED", "4.7-3.2.9.0"),
        (r"^[0-9]{3}\.[0-9]{2,3}(\.[0-9]{2})?$", "a version of the GPU driver", "580.95.05"),
        (r"^[78]\.\d+$", "a minor release of Red Hat Enterprise Linux", "7.6"),
        (r"^v3\.11\.\d+$", "a tag of OpenShift 3.11", "v3.11.117"),
        (r"^\d\S+$", "a version of the kernel", "3.10.0-957.el7.x86_64"),
        (r"^(stable|fast|candidate|eus)-[0-9]+\.[0-9]+$", "a channel of OpenShift", "stable-4.20"),
        (r"^([A-Za-z0-9_][A-Za-z0-9_.+-]{0,127}|sha256:[0-9a-f]{64})$", "a tag or a digest", "25.04-0.6.1.0-2"),
        (
            r"^[a-z0-9][A-Za-z0-9_./:@-]*[:@][A-Za-z0-9_:.+-]+$",
            "an image with a tag or a digest",
            "nvcr.io/nvidia/pytorch:25.03-py3",
        ),
        (r"^[a-z0-9][-A-Za-z0-9_.:/@]*$", "an image", "registry.example.com/torch:1"),
        (
            r"^[a-z0-9][a-z0-9._/-]*(:[0-9]+[a-z0-9._/-]*)?$",
            "a registry and the path in it",
            "nvcr.io/nvidia/mellanox",
        ),
        (
            r"^[a-z0-9][a-z0-9.-]*(:[0-9]+)?(/[a-z0-9]+([._-]+[a-z0-9]+)*)*$",
            "a registry, its port and the path in it",
            "mirror.example.com:8443/ocp",
        ),
        (r"^[A-Za-z0-9][A-Za-z0-9.-]*:[0-9]{1,5}$", "a host with its port", "mail.example.com:587"),
        (r"^[A-Za-z0-9.-]+(:[0-9]+)?$", "a host, with a port where it is not 443", "console.example.com"),
        (r"^[^@\s,]+@[^@\s,]+$", "a mail address", "ops@example.com"),
        (r"^[#@].+$", "a #channel or a @user", "#alerts"),
        (r"^(https://|ssh://|git@)\S+$", "the URI of a Git repository", "https://git.example.com/team/images.git"),
        (r"^https://[^\s@]+$", "a URL by https without a user", "https://mirror.example.com/repo"),
        (r"^https?://[^\s@]+$", "a URL without a user", "https://mirror.example.com/repo"),
        (
            r"^https?://[A-Za-z0-9_./:-]*[A-Za-z0-9_]$",
            "a URL that does not end with /",
            "https://mirror.example.com/ofed",
        ),
        (r"^(https|file)://\S+$", "a URL by https or file", "https://mirror.example.com/key.gpg"),
        (r"^[A-Za-z0-9][A-Za-z0-9_.-]*(/[A-Za-z0-9_.-]+)*$", "a commit, a tag or a branch", "v1.2.0"),
        (r"^[\w./-]+$", "a commit, a tag or a branch", "v1.2.0"),
        (r"^[a-z0-9][-.a-z0-9]*/[A-Za-z0-9][-A-Za-z0-9_.]*$", "HOST/HCA", "gpu01/mlx5_0"),
        (r"^[A-Za-z0-9][-.A-Za-z0-9]*/[A-Za-z0-9][-A-Za-z0-9_./:]*$", "SWITCH/PORT", "spine-1/1/3"),
        (r"^[A-Za-z0-9][-A-Za-z0-9_./: ]{0,63}$", "a device of up to 64 letters, digits and signs", "storage01 HCA-1"),
        (r"^[a-z0-9_]+(/[1-9][0-9]*)?$", "an adapter, with its port", "mlx5_3/1"),
        (r"^/dev/mst/\w+$", "an adapter as `mst status` prints it", "/dev/mst/mt4123_pciconf0"),
        (r"^/", "a path from /", "/mnt/scale"),
        (r"^/[^;]*$", "a path from / without a semicolon", "/mnt/scale/team-a"),
        (r"^/\S+$", "a path from / without spaces", "/srv/ofed"),
        (r"^/[\w./-]+$", "a path from / of letters, digits, _, ., / and -", "/mnt/scale"),
        (r"^/[-\w./]*$", "a path from / of letters, digits, _, ., / and -", "/raid/images"),
        (r"^/\w[\w/.-]*$", "a folder from / of letters, digits, _, ., / and -", "/data/results"),
        (r"^[^/;][^;]*$", "a path below the mount point", "volumes/team-a"),
        (r"^[^;=/\s]+$", "the name of a fileset", "team-a"),
        (
            r"^(\$\{pvc\.name\}|[a-z0-9])([-.a-z0-9]*[a-z0-9])?$",
            "the name of a Secret",
            "${pvc.name}-secret",
        ),
        (r"^(\w[\w.-]*/)*\w[\w.-]*\.lock\.json$", "the path of a lock", "data/city-scenes.lock.json"),
        (r"^\w+\.py$", "a file of stacks/scripts", "preflight.py"),
        (r"^[\w-]+\.(pp|te)$", "the file of an SELinux module", "gpu.te"),
        (r"^\s*(#.*\n|\s)*(ARG|FROM)\s", "a Containerfile, which begins with ARG or FROM", "FROM example/base:1"),
        (r"^-----BEGIN CERTIFICATE-----\n", "a certificate in PEM, which begins with a line of its own", ""),
        (r"^[^/]+/[^/]+$", "SOURCE/NAME", "recordings/front"),
        (r"^[a-z]([a-z0-9-]{0,13}[a-z0-9])?$", "the name of a port, up to 15 letters, digits and -", "master"),
        (
            r"^(ephemeral-storage|hugepages-[0-9]+[MG]i|[a-z0-9.-]+\.[a-z0-9-]+/[A-Za-z0-9_.-]+)$",
            "a resource beside cpu and memory",
            "hugepages-2Mi",
        ),
        (r"^\S+$", "one word without spaces", "iommu=pt"),
    )
}
