"""The health rules in Lua, against the provider's own reading of the waits that they come from."""

import json
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from components.base import waits
from components.jobs.outcome import Wait, job_annotations
from core.apis.kinds import JOB
from tests.support import debian
from tests.support.health_rules import SAMPLES, Object, holds, live, rules, with_conditions
from toolkit.render.gitops.expressions import ExpressionError, parse
from toolkit.render.gitops.health import KindHealth, cel_expression, lua_script
from toolkit.render.gitops.languages import cel


def as_lua(value: Any) -> str:
    """Return JSON data as Lua."""
    match value:
        case dict():
            return "{" + ", ".join(f"[{json.dumps(key)}] = {as_lua(item)}" for key, item in value.items()) + "}"
        case list():
            return "{" + ", ".join(map(as_lua, value)) + "}"
        case _:
            return json.dumps(value)


def judged(scripts: Mapping[str, tuple[str, Object]], folder: Path) -> dict[str, str]:
    """Run scripts on objects in haproxy's Lua, which has what Argo CD's has; return their status by name."""
    lines = []
    for name, (script, obj) in scripts.items():
        lines += [f"obj = {as_lua(obj)}", "do", "local function check()"]
        lines += [script, "end", f'print({json.dumps(name)} .. " " .. check().status)', "end"]
    (folder / "check.lua").write_text("\n".join(lines))
    (folder / "haproxy.cfg").write_text(f"global\n  lua-load {folder / 'check.lua'}\n")
    done = subprocess.run(
        [debian.program("haproxy"), "-c", "-f", folder / "haproxy.cfg"],
        env=debian.environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    printed = [line.split() for line in done.stdout.splitlines() if line.startswith("case")]
    assert len(printed) == len(scripts), done.stderr
    return {line[0]: line[1] for line in printed}


def cases() -> Iterator[tuple[str, KindHealth, tuple[str, ...], Object]]:
    """Yield every rule with every sample."""
    for row, health in enumerate(rules()):
        for column, sample in enumerate(SAMPLES):
            yield f"case-{row}-{column}", health, next(iter(health.rules)), live(sample)


def test_lua_judges_as_the_provider_does(tmp_path: Path) -> None:
    """For every wait of every stack an object is healthy exactly when the update would go on; a failed job is not."""
    statuses = judged({name: (lua_script(health), obj) for name, health, _, obj in cases()}, tmp_path)
    reached = set()
    for name, health, rule, obj in cases():
        failed = health.failure and holds((health.failure,), obj)
        expected = "Degraded" if failed else "Healthy" if holds(rule, obj) else "Progressing"
        assert statuses[name] == expected, (health.kind, rule, obj)
        reached |= {(health.kind, rule)} if expected == "Healthy" else set()
    assert [(health.kind, *health.rules) for health in rules() if (health.kind, *health.rules) not in reached] == []


def test_objects_of_one_kind_may_have_rules_of_their_own(tmp_path: Path) -> None:
    """A listener is healthy when it has started, Jobs of other applications when they have ended, and one is free."""
    started = tuple(waits.expressions(job_annotations(JOB, Wait.STARTED, timeout=1)))
    finished = tuple(waits.expressions(job_annotations(JOB, Wait.FINISHED, timeout=1)))
    health = KindHealth(
        "batch/v1", "Job", {started: ("adas/listener",), finished: ("adas/client",), (): ("adas/free",)}
    )
    script = lua_script(health)
    running = {"status": {"startTime": "2026-01-01T00:00:00Z"}}
    objects = {
        f"case-{namespace}-{name}": (script, {"metadata": {"namespace": namespace, "name": name}, **running})
        for namespace, name in (("adas", "listener"), ("adas", "client"), ("adas", "free"), ("other", "listener"))
    }
    failed = {"metadata": {"namespace": "adas", "name": "free"}, **with_conditions("Failed")}
    objects |= {"case-failed": (script, failed)}
    assert judged(objects, tmp_path) == {
        "case-adas-listener": "Healthy",
        "case-adas-client": "Progressing",
        "case-adas-free": "Healthy",
        "case-failed": "Healthy",
        "case-other-listener": "Progressing",
    }
    assert 'in ["adas/listener"] && (status.?startTime.hasValue())' in cel_expression(health)


def test_cel_reads_missing_fields_as_not_yet() -> None:
    """An expression has no field that may be missing without a default."""
    assert cel(parse(waits.exists(".status.installedCSV"))) == "status.?installedCSV.hasValue()"
    assert cel(parse(waits.equals(".status.state", "ready"))) == 'status.?state.orValue("") == "ready"'
    assert cel(parse(waits.exists(".webhooks[0].clientConfig.caBundle"))) == (
        "webhooks[?0].?clientConfig.?caBundle.hasValue()"
    )
    assert cel(parse(waits.any_condition("Running", "Failed"))) == (
        'status.?conditions.orValue([]).exists(item, (item.?type.orValue("") == "Running" || '
        'item.?type.orValue("") == "Failed") && item.?status.orValue("") == "True")'
    )


@pytest.mark.parametrize("expression", ["jsonpath={.a[*]}", "jsonpath={.a[?(@.b!=1)].c}", "delete", "jsonpath=.a"])
def test_an_expression_of_another_form_is_refused(expression: str) -> None:
    """A new form of wait must be written for both tools, or the manifests would go on too early."""
    with pytest.raises(ExpressionError, match=r"components\.base\.waits"):
        parse(expression)
