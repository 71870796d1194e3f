"""What configurations of CRI-O and of the kubelet give every container of a node, requested or not.

They are read from files and from the options of units. The texts are other people's: nothing here raises. Source of the
former: cri-o/cri-o, docs/crio.conf.5.md.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from posixpath import basename
from typing import Any, NamedTuple

from policies.manifests.values import Path, Tree, read
from policies.views.constraints import capability

_OPEN_PORT = "serves the state of all its pods to whoever reaches its port {}"
_ANONYMOUS = "takes requests without credentials"
_ALL_ALLOWED = "lets whoever reaches it run commands in all its pods"
_OPTIONS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"--anonymous-auth(?:[= ]true)?(?=[\s\"'\\]|$)", re.MULTILINE), _ANONYMOUS),
    (re.compile(r"--authorization-mode[= ][\"']?AlwaysAllow\b"), _ALL_ALLOWED),
)
_FIELDS: tuple[tuple[re.Pattern[str], str], ...] = (
    (re.compile(r"\banonymous[\"']?\s*:\s*\{?\s*[\"']?enabled[\"']?\s*:\s*true\b"), _ANONYMOUS),
    (re.compile(r"\bmode[\"']?\s*:\s*[\"']?AlwaysAllow\b"), _ALL_ALLOWED),
)
_READ_ONLY = re.compile(r"\breadOnlyPort[\"']?\s*:\s*([1-9]\d{0,4})\b")
_PORT = re.compile(r"--read-only-port[= ][\"']?([1-9]\d{0,4})\b")


class Opening(NamedTuple):
    """What a kubelet allows, as the end of a sentence, and the field that allows it."""

    what: str
    path: Path


def field_openings(settings: Tree) -> Iterator[Opening]:
    """Yield what the fields of a KubeletConfiguration allow."""
    if read(settings, "authentication", "anonymous", "enabled") is True:
        yield Opening(_ANONYMOUS, ("authentication", "anonymous", "enabled"))
    if read(settings, "authorization", "mode") == "AlwaysAllow":
        yield Opening(_ALL_ALLOWED, ("authorization", "mode"))
    port = read(settings, "readOnlyPort")
    if isinstance(port, int) and port > 0:
        yield Opening(_OPEN_PORT.format(port), ("readOnlyPort",))


def file_openings(text: str) -> Iterator[str]:
    """Yield what a file of the kubelet's allows, in YAML or JSON, whatever its form; no alias of it is followed."""
    yield from (effect for pattern, effect in _FIELDS if pattern.search(text))
    if port := _READ_ONLY.search(text):
        yield _OPEN_PORT.format(port[1])


def option_openings(text: str) -> Iterator[str]:
    """Yield what options on a command line allow."""
    yield from (effect for pattern, effect in _OPTIONS if pattern.search(text))
    if port := _PORT.search(text):
        yield _OPEN_PORT.format(port[1])


FILES = ("/etc/crio/crio.conf", "/etc/crio/crio.conf.d/*")
HOOKS = ("/etc/containers/oci/hooks.d", "/run/containers/oci/hooks.d", "/usr/share/containers/oci/hooks.d")
"""The folders in which CRI-O looks for hooks, programs that it runs as root beside each container that they choose."""

# CRI-O's own defaults, in whatever release, which are those of a container without any request.
_CAPABILITIES = frozenset(
    {"AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE", "NET_RAW"}
    | {"SETFCAP", "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT"}
)
_DEVICES = frozenset(
    {"/dev/fuse", "/dev/net/tun", "/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty"}
)
_ANNOTATIONS = ("io.kubernetes.cri-o.Devices", "devices.crio.io")
"""The annotation's name, and that of CRI-O since 2026."""
_RUNTIMES = frozenset({"", "runc", "crun", "kata", "kata-qemu", "runsc", "gvisor", "youki"})
_UNCONFINED = "unconfined"
_ADDED = "additional_devices"
_LISTS = frozenset({"default_capabilities", _ADDED, "allowed_devices", "hooks_dir", "default_mounts"})
_CRIO_FIELDS = (
    *("default_capabilities", _ADDED, "allowed_devices", "default_runtime", "seccomp_profile", "apparmor_profile"),
    *("selinux", "hooks_dir", "default_mounts", "default_mounts_file"),
)
_OPTION = re.compile(
    rf"(?:--|CONTAINER_)({'|'.join(_CRIO_FIELDS)})(?:[= ]\s*(\"[^\"\n]*\"|'[^'\n]*'|[^\s\"']+))?".replace("_", "[-_]"),
    re.IGNORECASE,
)


def toml(text: str) -> Tree:
    """Return the content of a text in TOML; an empty mapping for any other."""
    import tomllib  # noqa: PLC0415 - few manifests have any, and it takes longer to load than the rules that read it

    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError):
        return {}


def file_effects(text: str) -> Iterator[str]:
    """Yield what a file of CRI-O's configuration gives, as the end of a sentence; nothing where it is not TOML."""
    runtime = read(toml(text), "crio", "runtime")
    yield from _effects(runtime if isinstance(runtime, Mapping) else {})


def option_effects(text: str) -> Iterator[str]:
    """Yield what options on a command line, or in variables of the environment, give."""
    options: dict[str, Any] = {}
    for option in _OPTION.finditer(text):
        name, value = option[1].lower().replace("-", "_"), (option[2] or "").strip("\"'")
        if name in _LISTS:
            options.setdefault(name, []).extend(value.split(","))
        else:
            options[name] = value.lower() != "false" if name == "selinux" else value
    yield from _effects(options)


def _effects(runtime: Mapping[str, Any]) -> Iterator[str]:
    if added := sorted({capability(name) for name in _texts(runtime, "default_capabilities")} - _CAPABILITIES - {""}):
        yield f"gives every container {', '.join(added)}"
    if devices := _devices(runtime, _ADDED):
        yield f"gives every container {devices}"
    if devices := _device_names(
        device for handler in _runtimes(runtime) for device in annotated_devices(handler.get("default_annotations"))
    ):
        yield f"gives every container {devices}"
    if devices := _devices(runtime, "allowed_devices"):
        yield f"lets every pod take {devices} by an annotation"
    default = runtime.get("default_runtime", "")
    if isinstance(default, str) and default not in _RUNTIMES:
        yield f"makes {default[:80]} the runtime of every container"
    yield from _replaced(runtime)
    if runtime.get("selinux") is False:
        yield "runs every container without SELinux"
    for field in ("seccomp_profile", "apparmor_profile"):
        if runtime.get(field) == _UNCONFINED:
            yield f"runs every container with the {field} {_UNCONFINED}"
    if runtime.get("seccomp_use_default_when_empty") is False:
        yield "runs containers that name no seccomp profile without one"
    if others := [folder for folder in _texts(runtime, "hooks_dir") if folder.rstrip("/") not in HOOKS]:
        yield f"runs the hooks in {', '.join(others)[:200]}, beside every container"
    mounts = _texts(runtime, "default_mounts")
    if isinstance(file := runtime.get("default_mounts_file"), str) and file:
        mounts.append(f"what {file} lists")
    if any(mounts):
        yield f"mounts {', '.join(mounts)[:200]} into every container"


def _replaced(runtime: Mapping[str, Any]) -> Iterator[str]:
    """Yield the default runtimes behind whose names another program is."""
    for name in ("runc", "crun"):
        path = read(runtime, "runtimes", name, "runtime_path")
        if isinstance(path, str) and path and not basename(path).startswith(name):
            yield f"makes {path[:80]} the runtime of every container, by the name {name}"


def _runtimes(runtime: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    tables = runtime.get("runtimes")
    return [table for table in tables.values() if isinstance(table, Mapping)] if isinstance(tables, Mapping) else []


def _devices(runtime: Mapping[str, Any], field: str) -> str:
    return _device_names(_texts(runtime, field))


def _device_names(devices: Iterable[str]) -> str:
    names = {device.partition(":")[0].strip() for device in devices}
    return ", ".join(sorted(names - _DEVICES - {""}))[:200]


def annotated_devices(annotations: Tree) -> Iterator[str]:
    """Yield the devices, as written, that annotations of a pod name for its containers."""
    for key, value in annotations.items() if isinstance(annotations, Mapping) else ():
        if names_devices(key) and isinstance(value, str):
            yield from value.split(",")


def names_devices(key: Tree) -> bool:
    """Return whether an annotation is the one by which CRI-O takes devices, of all containers or of one."""
    return isinstance(key, str) and key.partition("/")[0] in _ANNOTATIONS


def hook_scope(text: str) -> str:
    """Return for which containers a hook runs: `all`, `some` where their annotations choose, empty if unreadable."""
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        return ""
    plain = _plain(content)
    when = _plain(plain.get("when", plain))
    chosen = [when.get(field) for field in ("annotations", "annotation")]
    return "some" if any(chosen) and not when.get("always") and not when.get("hasbindmounts") else "all"


def _plain(tree: Tree) -> Mapping[str, Any]:
    """Return a mapping with its keys in one case: CRI-O is written in Go, which reads the keys of JSON in any."""
    return {str(key).lower(): value for key, value in tree.items()} if isinstance(tree, Mapping) else {}


def _texts(runtime: Mapping[str, Any], field: str) -> list[str]:
    values = runtime.get(field)
    return [value for value in values if isinstance(value, str)] if isinstance(values, list) else []
