"""Secrets are in plain text only where they must be: values are planted, every command runs, every byte is searched.

The stack takes its cluster for a real one, with its state in a bucket and then in a folder. docs/guide/operations.md is
followed there once, with more in between (tests/support/planted_story.py); the tests read what it has left. What may be
found, and why, is in ALLOWED.
"""

import base64
import gzip
import json
import re
import subprocess
import sys
import urllib.parse
from pathlib import Path

import pytest

from tests.support import planted
from tests.support.lab import eventually
from tests.support.planted import Found, Search
from tests.support.planted_site import BUCKET, ODD, PROVIDER, Site
from tests.support.planted_story import DEBUGGED
from toolkit.simulator.processes.supervisor import Processes

pytestmark = pytest.mark.cluster

ALLOWED = {
    r"checkout/\.sim/lab/data/etcd/.*": "the cluster's store: Secrets are there, as in any cluster",
    r"checkout/\.sim/lab/kubeconfig": "the user's credentials for the cluster",
    r"checkout/\.sim/lab/pki/tokens\.csv": "by which the API server knows the user",
    r"home/\.kube/config": "the kubeconfig where the settings look for it, written from HPC_KUBECONFIG",
    r"home/lab\.passphrase(\.before)?": "the files in which the user keeps the passphrases",
}
"""Where a value may be, and why; each closed to others, itself or by a folder above it."""
_LINK = r"checkout/\.venv/.*"


def _search(site: Site) -> Search:
    return Search({"the kubeconfig's token": site.api.server.token})


def test_nothing_printed_holds_a_secret(site: Site) -> None:
    """No output of previews, reviews, failed and killed updates has a secret, nor has the engine's debugging."""
    search = _search(site)
    found = [each for place, output in site.printed.items() for each in search.content(place, output)]
    assert not found, _told(found)
    (debugged,) = (output for place, output in site.printed.items() if place.endswith(f"{' '.join(DEBUGGED)}, stderr"))
    assert b"RegisterResource" in debugged, "the engine prints nothing of what passes between it and the program"
    said = b"".join(site.printed.values()).decode(errors="replace")
    # What was to print secrets has been there.
    for words in ("another secret", "[secret]", "passwords in hand", "adopted: "):
        assert words in said, words


def test_no_file_holds_a_secret(site: Site) -> None:
    """No state, backup, plan, report, manifest or log has a secret; the few files that must are closed to others."""
    found = list(_search(site).files(site.top, [_LINK]))
    wrong = [each for each in found if not any(re.fullmatch(allowed, each.place) for allowed in ALLOWED)]
    assert not wrong, _told(wrong)
    for allowed in ALLOWED:
        places = {each.place for each in found if re.fullmatch(allowed, each.place)}
        assert places, f"nothing is in {allowed} any more: take it out of the table"
        for place in places:
            closed = [site.top / place, *(site.top / place).parents]
            assert any(not path.stat().st_mode & 0o077 for path in closed[: closed.index(site.top)]), f"{place} is open"


def test_no_version_in_the_bucket_holds_a_secret(site: Site) -> None:
    """No version of a state in the bucket has a secret, nor has the history of any step of an update."""
    objects = dict(site.objects())
    assert sum(name.startswith(".pulumi/stacks/hpc/lab.json.gz ") for name in objects) > 10
    assert any(name.startswith(".pulumi/history/") for name in objects)
    search = _search(site)
    found = [each for name, content in objects.items() for each in search.content(name, content)]
    assert not found, _told(found)


def test_no_process_shows_a_secret(site: Site) -> None:
    """No command line, which all users of the machine can read, and no environment of the cluster has a secret."""
    search = _search(site)
    assert any(name in line for line in site.command_lines for name in PROVIDER), sorted(site.command_lines)
    found = [each for line in site.command_lines for each in search.content("command line", line)]
    running = Processes(site.home).running()
    assert "kube-apiserver" in running
    for name, record in running.items():
        found += search.content(f"environment of {name}", Path(f"/proc/{record.pid}/environ").read_bytes())
    assert not found, _told(found)


def test_the_search_would_find_them(site: Site) -> None:
    """The search finds a planted value in each encoding and in each kind of place."""
    search, odd = _search(site), planted.value(*ODD)
    ways = {
        "plain": odd.encode(),
        "JSON": json.dumps({"a": json.dumps({"b": odd})}).encode(),
        "URL": urllib.parse.quote(odd, safe="").encode(),
        "URL, all of it": "".join(f"%{byte:02X}" for byte in odd.encode()).encode(),
        "hex": odd.encode().hex().encode(),
        "UTF-16": odd.encode("utf-16"),
        **{f"base64 after {n}": base64.b64encode(b"x" * n + odd.encode() + b"yz") for n in range(3)},
        **{
            f"base64 of base64 after {n}": base64.b64encode(b"{" * n + base64.b64encode(odd.encode())) for n in range(3)
        },
    }
    folders = [site.top / "home", site.top / "tmp", site.top / "pulumi-home" / "logs", site.root, site.home / "logs"]
    for folder in folders:
        wanted = set()
        for number, content in enumerate(ways.values()):
            cut = gzip.compress(gzip.compress(content) + b"rest")[:-4]
            for form, packed in (("plain", b"before " + content), ("packed", gzip.compress(content)), ("cut", cut)):
                hidden = folder / f".control-{number}-{form}"
                hidden.write_bytes(packed)
                wanted.add(hidden.name)
        found = {Path(each.place).name for each in search.files(folder, [r"(?!\.control).*"])}
        for name in wanted:
            (folder / name).unlink()
        assert found == wanted, (folder, wanted - found)
    assert list(search.content("name", f"a {site.api.server.token} b".encode()))
    assert list(search.files(site.home / "data" / "etcd")), "the Secrets are in the cluster's store"

    site.client.put_object(Bucket=BUCKET, Key="control", Body=gzip.compress(ways["JSON"]), Metadata={})
    site.client.put_object(Bucket=BUCKET, Key="control", Body=b"", Metadata={"a": planted.value()})
    controls = [list(search.content(name, content)) for name, content in site.objects() if "control" in name]
    assert [bool(found) for found in controls].count(True) == 2, "a body, and the head of the other version"

    waits = [sys.executable, "-c", "input()", odd]
    with planted.command_lines() as seen, subprocess.Popen(waits, stdin=subprocess.PIPE) as process:
        eventually(
            lambda: any(list(search.content("command line", line)) for line in seen.copy()), "no command line has it"
        )
        process.communicate(b"\n")


def test_what_env_prints(site: Site) -> None:
    """`./hpc pulumi --print-env` prints no keys and passphrases: the shell has them already."""
    (said,) = (output.decode() for place, output in site.printed.items() if place.endswith(" pulumi --print-env"))
    names = {line.removeprefix("export ").partition("=")[0] for line in said.splitlines() if line.startswith("export ")}
    assert names == {
        "PATH",
        "PULUMI_SKIP_UPDATE_CHECK",
        "PULUMI_STACK",
        "PULUMI_OPTION_CONFIG_FILE",
        "PULUMI_OPTION_CWD",
        "PULUMI_OPTION_STACK",
        "PULUMI_BACKEND_URL",
        "PULUMI_DIY_BACKEND_GZIP",
    }


def _told(found: list[Found]) -> str:
    return f"{len(found)} places:\n" + "\n".join(str(each)[:400] for each in found[:10])
