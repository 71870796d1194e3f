"""Which lines hold passwords, hashes and keys of devices, so that none of them is stored or shown."""

import re

SECRET = re.compile(
    r"password|passwd|passphrase|secret|hash|community|token|credential|private|\bkey\b|-key\b|cipher|crypt|certificate"
    r"|-cert\b|\b(?:auth|authentication|priv|md5|sha\d*)\b|\$[a-z0-9]{1,2}\$|BEGIN [A-Z ]+",
    re.IGNORECASE,
)
"""What names a secret, or is one, in the configuration of a device. In logs of jobs these words mean other things."""
MASK = "(a statement with a secret, not shown)"

_STATEMENT = re.compile(
    r"\s*(?:no )?(?:username|local-user|super|password|snmp-server|snmp-agent|ntp|ssh|aaa|license|crypto|email|web|ldap"
    r"|radius-server|tacacs-server|\"?hashed-password\"?:)\s"
)
_HASH = re.compile(r"\$(?:[1256chy]|2[abxy])\$\S+")


def masked(text: str) -> str:
    """Return a line as it may be stored and shown: without hashes, and without statements that hold secrets."""
    if _STATEMENT.match(text) and SECRET.search(text):
        return MASK
    return _HASH.sub("***", text) if "$" in text else text
