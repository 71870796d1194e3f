"""What counts as a credential, and how long it takes to say so."""

import time

import pytest

from policies.rules.rights.credentials import in_arguments, in_lines, known_form

FORMS = {
    "key: -----BEGIN OPENSSH PRIVATE KEY-----": "a private key",
    "ghp_" + "a" * 36: "a token of GitHub",
    "glpat-" + "a" * 20: "a token of GitLab",
    "AKIA" + "A" * 16: "a key of AWS",
    "xoxb-1234567890-a": "a token of Slack",
    "amqp://u:hunter2@mq/": "a password in a URL",
    "amqp://u:${PW}@mq and amqp://u:hunter2@mq/": "a password in a URL",
    "https://example.org:8443/a@b": "",
    "-----BEGIN CERTIFICATE-----": "",
}
HOSTILE = (
    "-eyJaaaaaaaaaa" * 5_000,
    "://a:" * 15_000,
    "-a " * 20_000,
    "token" * 15_000,
    "a\n" * 15_000,
    "/a" * 30_000,
)


@pytest.mark.parametrize(("text", "kind"), FORMS.items(), ids=lambda text: text[:12])
def test_known_forms(text: str, kind: str) -> None:
    """Credentials are recognised by their form, and addresses are not taken for them."""
    assert known_form(text) == kind


def test_no_text_is_slow() -> None:
    """A large ConfigMap is searched in bounded time."""
    begin = time.process_time()
    for text in HOSTILE:
        known_form(text)
        list(in_lines(text))
        list(in_arguments([text, "--token"]))
    assert time.process_time() - begin < 1
