"""What in a text is a credential, and what only stands for one."""

import binascii
import re
from base64 import b64decode
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import islice
from typing import Any

from pydantic import Field

from core.apis.kinds import CONFIG_MAP, KINDS, POD, SECRET
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.manifests.pods import Container
from policies.manifests.values import Path, Unknown, is_mapping
from policies.rule import Parameters, Rule, Severity
from policies.views.environment import variables

_WORD = (
    r"(?:password|passwd|passphrase|token|client[_.-]?secret|(?:(?:access|api|private|secret)[_.-]?key)(?:[_.-]?id)?)"
)
_NAME = re.compile(rf"(?:{_WORD}|secret|credentials?|(?:^|[_.-])(?:pass|pwd))\Z", re.IGNORECASE)
_LONGEST_NAME = 253
_SMALL = 6  # digits
_EMPTY = frozenset({"", "true", "false", "yes", "no", "none", "null", "nil", "~", "0", "1", "|", "|-", ">", ">-"})
_TYPES = frozenset({"str", "string", "bytes"})  # what a script or a schema says of a field
_HARMLESS = _EMPTY | _TYPES
# A variable, a template's or a tool's mark, a path; `changeme` is a password that many have.
_STAND_IN = re.compile(
    r"(?:\$\w+|<[^>]*>|\[[^\]]*\]|\{\{.*\}\}|%\w+%|__\w+__|@\w+@|\*+|x{3,}|\.\.\.)\Z"
    r"|\$[({]|`|ENC\[|vault:|ref\+|(?:<?replace[ _-]?(?:me|this)|placeholder|redacted|todo)\b|(?:file://)?(?:/[\w.@-]+)+\Z",
    re.IGNORECASE,
)
_PRIVATE_KEY = "a private key"
_URL = "a password in a URL"
_KINDS: tuple[tuple[str, str, str], ...] = (  # what it is, how it begins, and what follows
    (_PRIVATE_KEY, "-----BEGIN ", r"[A-Z ]{0,20}PRIVATE KEY-----"),
    (_URL, "://", r"[^/\s:@]{0,100}:(?P<password>[^/\s@]{1,100})@"),
    ("a token of Hugging Face", r"\bhf_", r"[A-Za-z0-9]{20,}"),
    ("a token of GitHub", r"\bgh[pousr]_", r"[A-Za-z0-9]{30,}"),
    ("a token of GitHub", r"\bgithub_pat_", r"\w{22,}"),
    ("a token of GitLab", r"\bglpat-", r"[\w-]{20,}"),
    ("a key of AWS", r"\bA[KS]IA", r"[0-9A-Z]{16}\b"),
    ("a token of Slack", r"\bxox[abeprs]-", r"[\w-]{10,}"),
    ("a key of NGC", r"\bnvapi-", r"[\w-]{40,}"),
    ("a token of OpenShift", r"\bsha256~", r"[\w-]{40,}"),
    ("a signed token (JWT)", r"\beyJ", r"[\w-]{10,200}\.eyJ[\w-]{10,}\.[\w-]{10,}"),
)
_KNOWN = re.compile(
    "|".join(f"(?P<k{index}>{begin}{continuation})" for index, (_, begin, continuation) in enumerate(_KINDS))
)
_BEGINNINGS = re.compile("|".join(begin.removeprefix(r"\b") for _, begin, _ in _KINDS))
"""What a text without a credential seldom has; literals are found ten times as fast."""
_ANY_WORD = re.compile(_WORD, re.IGNORECASE)
_FLAG = re.compile(rf"--?[\w.-]{{0,60}}{_WORD}\Z", re.IGNORECASE)
_FLAGS = re.compile(
    rf"(?:^|(?<=[\s;]))(?P<name>--?[\w.-]{{0,60}}?{_WORD})(?:=|[ \t]+)(?P<value>\"[^\"]*\"|'[^']*'|\S+)", re.IGNORECASE
)
_LINES = re.compile(
    rf"^[ \t]*(?:export[ \t]+|- )?[\"']?(?P<name>[\w.-]{{0,60}}?{_WORD})[\"']?[ \t]*[:=][ \t]*(?P<value>\S.*)$",
    re.IGNORECASE | re.MULTILINE,
)
_EXPRESSION = re.compile(r"[()\[\]{}\s]")
_QUOTES = "\"'"


@lru_cache(maxsize=4096)
def is_name(name: str) -> bool:
    """Return whether a variable or a key of that name holds a credential."""
    return len(name) <= _LONGEST_NAME and _NAME.search(name) is not None


def is_value(value: object, name: str = "") -> bool:
    """Return whether a value may be a credential: a text that says something and stands for nothing else.

    With a `name` that ends in token, a small number is a number of tokens or of one.
    """
    if not isinstance(value, str) or value.strip().lower() in _HARMLESS or _STAND_IN.match(value.strip()):
        return False
    return not (len(value) <= _SMALL and value.strip().isdigit() and name.lower().endswith("token"))


def known_form(text: str) -> str:
    """Return which credential is in a text by its form alone; empty when none."""
    if _BEGINNINGS.search(text) is None:
        return ""
    for match in _KNOWN.finditer(text):
        password = match["password"]
        if password is None or is_value(password):
            return next(kind for index, (kind, *_) in enumerate(_KINDS) if match[f"k{index}"] is not None)
    return ""


def in_arguments(arguments: list[object]) -> Iterator[tuple[int, str]]:
    """Yield where arguments give a credential, and what: of `--token x`, `--token=x`, in a shell's line, too."""
    line = "\n".join([argument for argument in arguments if isinstance(argument, str)])
    if not (_BEGINNINGS.search(line) or ("-" in line and _ANY_WORD.search(line))):
        return  # as most have neither, for a fourth of what reading each argument takes
    flag = ""
    for index, argument in enumerate(arguments):
        if not isinstance(argument, str):
            flag = ""
            continue
        if flag and not argument.startswith("-") and is_value(argument, flag):
            yield index, f"the value of {flag}"
        elif credential := _credential(argument):
            yield index, credential
        flag = argument if _FLAG.match(argument) else ""


def _credential(argument: str) -> str:
    for flag in _FLAGS.finditer(argument):
        if is_value(flag["value"].strip(_QUOTES), flag["name"]):
            return f"the value of {flag['name']}"
    return known_form(argument)


def in_lines(text: str) -> Iterator[str]:
    """Yield the names that lines of a file (`name: x`, `name=x`) give a credential; expressions of scripts are none."""
    for line in _LINES.finditer(text):
        value = line["value"].strip().rstrip(",;")
        literal = value[:1] in _QUOTES and value[-1:] == value[:1]
        plain = value.strip(_QUOTES)
        if is_value(plain, line["name"]) and (literal or not (_EXPRESSION.search(value) or is_name(value))):
            yield line["name"]


_MOST = 20
_SHOWN = 80
_OF_HELM = "helm.sh/release"
_CERTIFICATE, _PRIVATE = "-----BEGIN CERTIFICATE-----", "PRIVATE KEY-----"


class CredentialsInSecrets(Parameters):
    """Where the objects come from."""

    files: bool = Field(
        default=False,
        description="whether the objects are files, where a Secret's values can be read; in an update they cannot",
    )


def _credentials_in_secrets(subject: Obj, _: Inventory, parameters: CredentialsInSecrets) -> Iterator[Violation]:
    if subject.kind == SECRET.kind:
        return islice(_secret(subject), _MOST) if parameters.files else iter(())
    return islice(_config_map(subject) if subject.kind == CONFIG_MAP.kind else _pods(subject), _MOST)


def _pods(subject: Obj) -> Iterator[Violation]:
    for container in subject.containers:
        if "env" in container.tree:
            yield from _environment(container)
        for field in ("command", "args"):
            arguments = container.tree.get(field)
            if isinstance(arguments, list):
                for index, credential in in_arguments(arguments):
                    yield container.violation(f"has {credential[:_SHOWN]} in the open", field, index)


def _environment(container: Container) -> Iterator[Violation]:
    reported: set[Path] = set()
    for variable in variables(container, is_name):
        if is_value(variable.value, variable.name):
            reported.add(variable.place)
            yield container.violation(f"{variable.name} has its value in the open", *variable.place)
    # What shows by its form is found under any name; an unknown value of another name is not reported here.
    entries = container.tree.get("env")
    for index, entry in enumerate(entries if isinstance(entries, list) else ()):
        value = entry.get("value") if is_mapping(entry) else None
        if isinstance(value, str) and ("env", index, "value") not in reported and (credential := known_form(value)):
            yield container.violation(
                f"{str(entry.get('name'))[:_SHOWN]} has {credential} in the open", "env", index, "value"
            )


def _config_map(subject: Obj) -> Iterator[Violation]:
    data = subject.tree.get("data")
    if isinstance(data, Unknown):
        subject.read("data")
    for key, value in data.items() if isinstance(data, Mapping) else ():
        if isinstance(key, str) and (credential := _of_key(subject, key, value)):
            yield subject.violation(f"{key[:_SHOWN]} has {credential} in the open, in a ConfigMap", "data", key)


def _of_key(subject: Obj, key: str, value: Any) -> str:
    if is_name(key) and is_value(subject.read("data", key), key):
        return "its value"
    if not isinstance(value, str):
        return ""
    if credential := known_form(value):
        return credential
    name = next(in_lines(value), "")
    return f"the value of {name}" if name else ""


def _secret(subject: Obj) -> Iterator[Violation]:
    if subject.text("type").startswith(_OF_HELM):
        return
    for field in ("data", "stringData"):
        for key, value in subject.mapping(field).items():
            if isinstance(key, str) and value and not isinstance(value, Unknown) and _is_secret(field, value):
                yield subject.violation(f"has the value of {key[:_SHOWN]} in a file", field, key)


def _is_secret(field: str, value: Any) -> bool:
    """Return whether a Secret's value is one: neither a mark that a tool replaces nor a certificate."""
    text = str(value)
    if field == "data":
        if not is_value(text):
            return False
        try:
            text = b64decode(text).decode("utf-8", "replace")
        except (binascii.Error, ValueError):
            return True
    return is_value(text) and not (text.lstrip().startswith(_CERTIFICATE) and _PRIVATE not in text)


CREDENTIALS_IN_SECRETS = Rule(
    name="credentials-in-secrets",
    what="No environment variable, argument or ConfigMap contains a password, token or private key, and no file "
    "contains a Secret with values. Placeholders (${X}, $(X), <path:...>, REPLACE_ME) and paths are allowed.",
    why="Anyone who may read the pod, the ConfigMap or the repository has the password; with that of the Spectrum "
    "Scale GUI they administer all data. A value in a repository's history stays there.",
    remedy="Put the value into a Secret that is created outside these files, and refer to it with "
    "valueFrom.secretKeyRef",
    source="R-3.4.5-5, platform-facts 4.3 rule 12",
    severity=Severity.MANDATORY,
    parameters=CredentialsInSecrets,
    examine=_credentials_in_secrets,
    kinds=(POD, CONFIG_MAP, SECRET, *(kind for kind in KINDS if kind.pod_templates)),
)
