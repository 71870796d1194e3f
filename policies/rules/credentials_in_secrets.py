"""Passwords and tokens stand in Secrets, and no Secret with its values stands in a file."""

import re
from collections.abc import Iterator, Mapping
from itertools import islice

from pydantic import Field

from apis.kinds import CONFIG_MAP, KINDS, POD, SECRET
from policies.findings import Severity
from policies.objects import Obj
from policies.rule import Parameters, Remark, Rule
from policies.values import Unknown
from policies.views.environment import variables
from policies.world import World

_NAME = re.compile(
    r"(password|passwd|passphrase|token|secret|(access|api|private|secret)[_.-]?key([_.-]?id)?|credentials?)\Z",
    re.IGNORECASE,
)
_LONGEST_NAME = 253
_HARMLESS = frozenset({"", "true", "false", "yes", "no", "none", "0", "1"})
_REFERENCE = re.compile(r"\$\([^)]*\)\Z")
_MOST = 20


class CredentialsInSecrets(Parameters):
    """Where the objects come from."""

    files: bool = Field(
        default=False,
        description="the objects are files, in which a Secret's own values are in the open; an update's are not",
    )


def _examine(subject: Obj, _: World, parameters: CredentialsInSecrets) -> Iterator[Remark]:
    if subject.kind == SECRET.kind:
        return islice(_secret(subject), _MOST) if parameters.files else iter(())
    return islice(_config_map(subject) if subject.kind == CONFIG_MAP.kind else _pods(subject), _MOST)


def _names_one(name: str) -> bool:
    return len(name) <= _LONGEST_NAME and _NAME.search(name) is not None


def _is_one(value: object) -> bool:
    return isinstance(value, str) and value.strip().lower() not in _HARMLESS and not _REFERENCE.match(value)


def _pods(subject: Obj) -> Iterator[Remark]:
    for container in subject.containers:
        if "env" in container.tree:
            for variable in variables(container, _names_one):
                if _is_one(variable.value):
                    yield container.remark(f"{variable.name} has its value in the open", *variable.place)


def _config_map(subject: Obj) -> Iterator[Remark]:
    data = subject.tree.get("data")
    if isinstance(data, Unknown):
        subject.read("data")
    for key in data if isinstance(data, Mapping) else ():
        if isinstance(key, str) and _names_one(key) and _is_one(subject.read("data", key)):
            yield subject.remark(f"{key[:80]} has its value in the open, in a ConfigMap", "data", key)


def _secret(subject: Obj) -> Iterator[Remark]:
    for field in ("data", "stringData"):
        for key, value in subject.mapping(field).items():
            if isinstance(key, str) and value and not isinstance(value, Unknown):
                yield subject.remark(f"has the value of {key[:80]} in a file", field, key)


CREDENTIALS_IN_SECRETS = Rule(
    name="credentials-in-secrets",
    what="No environment variable and no ConfigMap has a password, token or key as its value; files have no "
    "Secrets with values in them.",
    why="Whoever may read the pod, the ConfigMap or the repository has the password; for the Spectrum Scale GUI "
    "that is the administration of all data. A value in a repository's history stays there.",
    remedy="Put the value into a Secret that is made outside of the files, and refer to it with valueFrom.secretKeyRef",
    source="R-3.4.5-5, platform-facts 4.3 rule 12",
    severity=Severity.MANDATORY,
    parameters=CredentialsInSecrets,
    examine=_examine,
    kinds=(POD, CONFIG_MAP, SECRET, *(kind for kind in KINDS if kind.pod_templates)),
)
