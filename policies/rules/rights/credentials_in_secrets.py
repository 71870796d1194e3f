"""Passwords and tokens are in Secrets, and no Secret with its values is in a file."""

import binascii
from base64 import b64decode
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from pydantic import Field

from core.apis.kinds import CONFIG_MAP, KINDS, POD, SECRET
from policies.findings import Severity
from policies.manifests.inventory import Inventory
from policies.manifests.objects import Obj
from policies.manifests.part import Violation
from policies.manifests.pods import Container
from policies.manifests.values import Path, Unknown, is_mapping
from policies.rule import Parameters, Rule
from policies.views.credentials import in_arguments, in_lines, is_name, is_value, known_form
from policies.views.environment import variables

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


def _examine(subject: Obj, _: Inventory, parameters: CredentialsInSecrets) -> Iterator[Violation]:
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
    examine=_examine,
    kinds=(POD, CONFIG_MAP, SECRET, *(kind for kind in KINDS if kind.pod_templates)),
)
