"""`./hpc check`: its arguments and its exit status."""

import json
from pathlib import Path
from unittest.mock import ANY

import pytest

from core.yaml import text as yaml_text
from policies.configuration import with_site_rules
from policies.manifests.objects import Obj, objects
from tests.support.commands import finished
from tests.support.messages import has
from toolkit.cli.check.command import CLEAN, FOUND, UNREADABLE, command
from toolkit.cli.check.sources import StackObjects

POD = """\
apiVersion: v1
kind: Pod
metadata: {name: x, namespace: a}
spec: {containers: [{name: c, resources: {limits: {nvidia.com/gpu: 17, cpu: 1}}}]}
"""


def _run(*arguments: str, text: str | bytes = POD) -> tuple[int, str]:
    return finished(command, *arguments, text=text)


@pytest.fixture
def pod(tmp_path: Path) -> str:
    """Return a file with one manifest."""
    path = tmp_path / "pod.yaml"
    path.write_text(POD)
    return str(path)


def test_status(pod: str) -> None:
    """Mandatory findings fail, advisory ones only with --severity, and unreadable input always."""
    assert _run("-f", pod, "--rules", "gpu-limit")[0] == FOUND
    assert _run("-f", pod, "--rules", "rdma-exactly-one")[0] == CLEAN
    advice = ("-f", pod, "--rules", "gpu-memory-limit")
    assert _run(*advice)[0] == CLEAN
    assert _run(*advice, "--severity", "advisory")[0] == FOUND
    status, output = _run(*advice, "--severity", "mandatory")
    assert (status, "0 findings" in output) == (CLEAN, True)
    assert _run("-", "--rules", "gpu-limit", text=POD + "---\n}\n")[0] == UNREADABLE


def test_findings_of_ones_own_objects_are_located(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A finding of an object of one's own has file, line and column of the field in its manifest."""
    manifest = tmp_path / "objects" / "pods.yaml"
    manifest.parent.mkdir()
    manifest.write_text(f"# ours\n---\n{POD}")
    (own,) = objects(yaml_text.read(POD))
    stack = StackObjects("Pulumi.x.yaml", {}, [own], (), [own], [], own=[manifest], root=tmp_path)
    monkeypatch.setattr("toolkit.cli.check.command.of_stack", lambda _: stack)
    _, output = _run("--stack", "x", "--rules", "gpu-limit")
    assert "objects/pods.yaml:6:52  mandatory  gpu-limit" in output


def test_rules_of_ones_own_run_beside_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stack's own rules examine what it declares, and --rules takes their names."""
    own = Obj({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "b"}})
    configuration = with_site_rules({}, ["tests/policies/own_rules"])
    stack = StackObjects("Pulumi.x.yaml", configuration, [own], (), [own], [])
    monkeypatch.setattr("toolkit.cli.check.command.of_stack", lambda _: stack)
    for more in ((), ("--rules", "team-label")):
        status, output = _run("--stack", "x", *more)
        assert (status, has(output, "team-label", "ConfigMap b/a", "has no label team")) == (FOUND, True)
    path = tmp_path / "config.json"
    path.write_text('{"team-label": "disabled"}')
    assert _run("--stack", "x", "--rules", "team-label", "--config", str(path))[0] == CLEAN


@pytest.mark.parametrize(
    ("arguments", "listed"), [((), False), (("-v",), True), (("--verbose",), True), (("--severity", "advisory"), True)]
)
def test_advisory_findings_are_listed_on_request(pod: str, arguments: tuple[str, ...], listed: bool) -> None:
    """Advisory findings are listed with --verbose, and where they make the check fail; else they are counted."""
    _, output = _run("-f", pod, "--rules", "gpu-memory-limit", *arguments)
    assert ("gpu-memory-limit" in output, "1 advisory finding not shown" in output) == (listed, not listed)
    assert "1 advisory" in output


def test_files(pod: str) -> None:
    """Files are named by -f, as arguments, and by - for standard input."""
    status, output = _run("-f", pod, "-", "--rules", "gpu-limit")
    assert (status, "2 files, 2 objects" in output) == (FOUND, True)
    assert "(standard input):4:" in output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--rules", "nope"), "nope: no such rule"),
        (("--config", "/nowhere"), "/nowhere: cannot be read as JSON"),
        (("--exceptions", "/nowhere"), "cannot read the exceptions in /nowhere"),
        (("--stack", "nope"), "no settings for stack 'nope'"),
    ],
)
def test_wrong_arguments(arguments: tuple[str, str], message: str) -> None:
    """A wrong argument exits with 2 and a message that names it."""
    status, output = _run("-", *arguments)
    assert status == UNREADABLE
    assert message in output


def test_a_stack_is_checked_without_files(tmp_path: Path) -> None:
    """Without files the stack's own objects are checked as complete; findings have its file, object and field."""
    assert has(_run()[1], "1 file", "objects", "0 findings")
    path = tmp_path / "config.json"
    path.write_text('{"image-registry": {"registries": ["registry.example.com"]}}')
    status, output = _run("--stack", "dev", "--config", str(path), "--format", "json")
    first = json.loads(output)["findings"][0]
    assert (status, first["file"], first["line"], first["rule"]) == (FOUND, "Pulumi.dev.yaml", 0, "image-registry")
    text = " ".join(_run("--config", str(path))[1].split())
    assert has(text, "Pulumi.dev.yaml", "Job adas/", "spec.template.spec.containers[0].image:", "comes from")
    assert ":0:" not in text


def test_a_link_of_a_stack_must_end_in_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A missing end of a link is a finding of a stack, and undetermined where its configuration says it is a part."""
    job = Obj(yaml_text.read(POD))
    stack = StackObjects("Pulumi.x.yaml", {}, [job], (), [job], ["queues.operator.channel: not listed"])
    monkeypatch.setattr("toolkit.cli.check.command.of_stack", lambda _: stack)
    path = tmp_path / "config.json"
    path.write_text('{"whole-stack": {"complete": false}}')
    whole, part = (_run("--rules", "gpu-quota", "-v", *more)[1] for more in ((), ("--config", str(path))))
    assert ("of them undetermined" in whole, "of them undetermined" in part) == (False, True)
    assert has(whole, "Pulumi.x.yaml", "note", "queues.operator.channel: not listed")


def test_wrong_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings that are refused exit with 2, and all that is wrong with them."""
    (tmp_path / "Pulumi.x.yaml").write_text("config: {hpc:platform: {layout: 2x8}}\n")
    monkeypatch.setattr("toolkit.cli.shared.paths.ROOT", tmp_path)
    status, output = _run("--stack", "x")
    assert (status, has(output, "Pulumi.x.yaml", "layout")) == (UNREADABLE, True)


def test_configuration(pod: str, tmp_path: Path) -> None:
    """--config takes the pack's configuration."""
    path = tmp_path / "config.json"
    path.write_text(json.dumps({"gpu-limit": {"maximum": 17}}))
    assert _run("-f", pod, "--rules", "gpu-limit", "--config", str(path))[0] == CLEAN
    path.write_text("[]")
    assert _run("-f", pod, "--config", str(path))[0] == UNREADABLE
    path.write_text('{"gpu-limt": {"maximum": 4}}')
    assert has(_run("-f", pod, "--config", str(path))[1], "gpu-limt", "no such rule", "gpu-limit")


@pytest.mark.parametrize(
    ("content", "status", "words"),
    [
        ({"all": "advisory"}, CLEAN, "(0 mandatory, 2 advisory"),
        (
            {"all": {"enforcementLevel": "advisory"}, "gpu-limit": {"enforcementLevel": "remediate"}},
            FOUND,
            "1 mandatory",
        ),
        ({"all": "disabled", "gpu-limit": {"maximum": 4}}, CLEAN, "0 findings"),
        ({"whole-stack": {"complete": True}}, FOUND, "(2 mandatory, 0 advisory)"),
        ({"whole-stack": {"complete": False}, "exceptions": "disabled"}, FOUND, "(1 mandatory, 1 advisory"),
        ({"all": "nonsense"}, UNREADABLE, "all.enforcementLevel: 'nonsense' is not one of"),
        ({"all": {"maximum": 4}}, UNREADABLE, "all: takes enforcementLevel only"),
        ({"all": {}}, UNREADABLE, "all.enforcementLevel: None"),
        ({"whole-stack": {"complete": "no"}}, UNREADABLE, "whole-stack.complete: 'no' must be true or false"),
        ({"exceptions": {"file": "x"}}, UNREADABLE, "exceptions: takes enforcementLevel only"),
    ],
)
def test_the_packs_own_keys(content: dict[str, object], status: int, words: str, pod: str, tmp_path: Path) -> None:
    """The pack's own keys mean the same in a check."""
    path = tmp_path / "config.json"
    path.write_text(json.dumps(content))
    assert _run("-f", pod, "--rules", "gpu-limit,gpu-quota", "--config", str(path)) == (status, ANY)
    assert words in _run("-f", pod, "--rules", "gpu-limit,gpu-quota", "--config", str(path))[1]


def test_nothing_to_check() -> None:
    """Empty input exits with 2."""
    status, output = _run("-f", "-", text="")
    assert (status, "(standard input)" in output) == (UNREADABLE, True)


def test_usage() -> None:
    """The usage line is readable."""
    assert "[[" not in _run("--help")[1].partition("Arguments")[0]


def test_exceptions(pod: str, tmp_path: Path) -> None:
    """--exceptions reads another file."""
    path = tmp_path / "exceptions.yaml"
    path.write_text("- {rule: gpu-limit, object: Pod a/x, reason: a machine of our own, expires: 2999-01-01}\n")
    assert _run("-f", pod, "--rules", "gpu-limit", "--exceptions", str(path))[0] == CLEAN


def test_stack(tmp_path: Path) -> None:
    """With a stack, links may end at its objects, and its release decides which APIs are served."""
    path = tmp_path / "job.yaml"
    later = "apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: x, namespace: adas}\n"
    path.write_text(f"{POD.replace('17', '2').replace('namespace: a', 'namespace: adas')}---\n{later}")
    rules = ("--rules", "api-served,gpu-quota", "--complete", "--verbose")
    alone, with_stack = (_run("-f", str(path), *rules, *more)[1] for more in ((), ("--stack", "dev")))
    assert ("api-served" in alone, "gpu-quota" in alone) == (False, True)
    assert ("api-served" in with_stack, "gpu-quota" in with_stack) == (True, False)
    assert "2 objects" in with_stack


def test_secrets_in_files() -> None:
    """A Secret in a file is a finding, and no report contains its value."""
    secret = "{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: a}, stringData: {password: hunter2hunter}}"
    status, output = _run("-f", "-", text=f"{secret}\n---\n{POD.replace('17', 'hunter2hunter')}")
    assert status == FOUND
    assert "has the value of password in a file" in output
    assert "[secret]" in output
    assert "hunter2" not in output


def test_permissive_hosts_need_an_exception(tmp_path: Path) -> None:
    """What site.hosts says of SELinux is found as a MachineConfig's would be, until an exception says why."""
    none = tmp_path / "none.yaml"
    none.write_text("[]")
    status, output = _run("--stack", "redpaper-4.4", "--rules", "selinux-enforcing", "--exceptions", str(none))
    assert status == FOUND
    assert has(
        output, "redpaper-4.4.yaml", "mandatory", "settings site.hosts", "sets SELinux to permissive", "an exception"
    )
    status, output = _run("--stack", "redpaper-4.4", "--rules", "selinux-enforcing")
    assert status == CLEAN
    assert "1 excepted" in output
    ended = tmp_path / "ended.yaml"
    ended.write_text(
        "[{rule: selinux-enforcing, object: settings site.hosts, reason: the driver of 2020, expires: 2021-01-01}]"
    )
    status, output = _run("--stack", "redpaper-4.4", "--rules", "selinux-enforcing", "--exceptions", str(ended))
    assert status == FOUND
    assert has(output, "ended.yaml:1", "2 mandatory")
    assert _run("--stack", "redpaper-4.4", "--rules", "gpu-limit", "--exceptions", str(none))[0] == CLEAN
    assert _run("--stack", "h100-roce", "--rules", "selinux-enforcing", "--exceptions", str(none))[0] == CLEAN
