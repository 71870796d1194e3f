"""The files of CI: what linters cannot know of them."""

import json
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.recorded import ROOT

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
ACTIONS = sorted((ROOT / ".github" / "actions").glob("*/action.yml"))
GITLAB = ROOT / ".ci/gitlab.yml"
STACKS = ["dev", "prod"]
_CHECKED = (
    ".github",
    ".ci/gitlab.yml",
    "Makefile",
    ".github/renovate.json",
    "core",
    "toolkit",
    "requirements.txt",
    "requirements/sim.txt",
    "requirements/dev.txt",
    "tests/support/debian.py",
)
_DECRYPTING = ("PULUMI_CONFIG_PASSPHRASE", "HPC_STATE_", "HPC_KUBECONFIG", "id-token")
"""Of a job: what opens a stack's secrets or its cluster, or takes on a role that does."""
_MAKE = re.compile(r"\bmake ([a-z]+)")
_SECRET = re.compile(r"\$\{\{\s*secrets\.")


def _jobs(workflow: Path) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(workflow.read_text())["jobs"]
    return found


def _all_jobs() -> Iterator[tuple[str, dict[str, Any]]]:
    for workflow in WORKFLOWS:
        for name, job in _jobs(workflow).items():
            yield f"{workflow.stem}/{name}", job


def _targets(*files: Path) -> set[str]:
    lines = (line for file in files for line in file.read_text().splitlines() if not line.startswith("#"))
    return {name for line in lines for name in _MAKE.findall(line)}


def _gitlab() -> dict[str, Any]:
    class Loader(yaml.SafeLoader):
        pass

    found: dict[str, Any] = yaml.load(GITLAB.read_text(), Loader)  # noqa: S506 - a subclass of the safe one
    return found


def test_actions_are_pinned_by_commit() -> None:
    """Foreign actions are pinned by commit, with their version beside it: a tag may be moved."""
    used = re.findall(r"uses: (\S+)(.*)", "".join(path.read_text() for path in (*WORKFLOWS, *ACTIONS)))
    foreign = [(name, comment) for name, comment in used if not name.startswith("./")]
    assert len(foreign) > 10
    for name, comment in foreign:
        assert re.fullmatch(r"[\w./-]+@[0-9a-f]{40}", name), name
        assert re.search(r"# v\d+\.\d+\.\d+$", comment), f"{name} does not say its version"


def test_one_version_of_an_action() -> None:
    """All workflows use the same version of an action."""
    used = set(re.findall(r"uses: ([\w./-]+)@(\w+)", "".join(path.read_text() for path in (*WORKFLOWS, *ACTIONS))))
    assert len(used) == len({name for name, _ in used})


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.stem)
def test_rights_are_given_to_jobs_one_by_one(workflow: Path) -> None:
    """Each job has its own permissions, none inherits the repository's default, and none may write contents."""
    content = yaml.safe_load(workflow.read_text())
    assert content["permissions"] == {}
    for job in content["jobs"].values():
        assert job["permissions"]
        assert set(job["permissions"]) <= {"actions", "contents", "pull-requests", "security-events", "id-token"}
        assert job["permissions"].get("actions", "read") == "read"
        assert job["permissions"].get("contents") == "read"


def test_forks_get_no_secrets() -> None:
    """Jobs of a pull request with secrets run for branches of this repository alone, in an environment."""
    for name, job in _jobs(ROOT / ".github/workflows/pull-request.yml").items():
        secrets = bool(_SECRET.search(yaml.safe_dump(job)))
        own = "head.repo.full_name == github.repository" in str(job.get("if", ""))
        assert not secrets or (own and "environment" in job), name
    triggers = {trigger for workflow in WORKFLOWS for trigger in yaml.safe_load(workflow.read_text())[True]}
    assert not triggers & {"pull_request_target", "workflow_run", "issue_comment"}


def test_secrets_belong_to_environments() -> None:
    """Secrets are those of environments; those of the repository can be read by jobs of every branch."""
    for name, job in _all_jobs():
        assert not _SECRET.search(yaml.safe_dump(job)) or "environment" in job, name


def test_a_branch_decrypts_nothing_without_a_reviewer() -> None:
    """A pull request's job that can decrypt a stack's secrets requires an environment with reviewers; others cannot."""
    opening = []
    for name, job in _jobs(ROOT / ".github/workflows/pull-request.yml").items():
        if not any(word in yaml.safe_dump(job) for word in _DECRYPTING):
            continue
        opening.append(name)
        assert job["environment"] == "${{ matrix.stack }}-preview", name
        assert "compare" in job["needs"], f"{name}: a reviewer has nothing to read"
        _requires(name, job, "required_reviewers")
    assert opening == ["preview"]


def test_credentials_of_main_are_for_main() -> None:
    """Every other job with credentials requires an environment that other branches cannot use, apart from previews'."""
    for name, job in _all_jobs():
        if not name.startswith("pull-request/") and "environment" in job:
            assert not job["environment"].endswith("-preview"), name
            _requires(name, job, "branch_policy")


def _requires(name: str, job: Mapping[str, Any], rule: str) -> None:
    """Check that a job asks for the rule of its own environment before anything gets a secret."""
    steps = job["steps"]
    (place,) = (index for index, step in enumerate(steps) if step.get("uses") == "./.github/actions/access")
    assert (steps[place]["with"]["environment"], steps[place]["with"]["rule"]) == (job["environment"], rule), name
    assert not any(_SECRET.search(yaml.safe_dump(step)) for step in steps[:place]), name
    first = yaml.safe_load((ROOT / ".github/actions/access/action.yml").read_text())["runs"]["steps"][0]
    assert first["run"] == 'python "$GITHUB_ACTION_PATH/require_rule.py"'


@pytest.mark.parametrize(
    ("rules", "status", "printed"),
    [
        ([{"type": "branch_policy"}, {"type": "required_reviewers", "reviewers": []}], 0, ""),
        ([{"type": "branch_policy"}], 1, "dev-preview lacks rule required_reviewers (it has branch_policy)"),
        (None, 1, "dev-preview lacks rule required_reviewers (it has none)"),
    ],
)
def test_an_environment_without_its_rule_is_refused(rules: Any, status: int, printed: str) -> None:
    """The action reads the environment's rules, and fails without the one that the job requires."""
    asked: list[tuple[str, str | None]] = []

    class Api(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append((self.path, self.headers["Authorization"]))
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps({"name": "dev-preview", "protection_rules": rules}).encode())

        def log_message(self, *_: object) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Api) as server:
        threading.Thread(target=server.handle_request, daemon=True).start()
        done = subprocess.run(
            [sys.executable, ROOT / ".github/actions/access/require_rule.py"],
            env={
                "GITHUB_API_URL": f"http://127.0.0.1:{server.server_port}",
                "GITHUB_REPOSITORY": "owner/hpc",
                "ENVIRONMENT": "dev-preview",
                "RULE": "required_reviewers",
                "TOKEN": "the-token",
            },
            capture_output=True,
            text=True,
            check=False,
        )
    assert asked == [("/repos/owner/hpc/environments/dev-preview", "Bearer the-token")]
    assert done.returncode == status, done.stderr
    assert printed in done.stdout


def test_an_update_is_alone_and_ends() -> None:
    """A stack has one update at a time, which is never cancelled and does what was planned and approved."""
    updates = [(name, job) for name, job in _all_jobs() if "make up" in yaml.safe_dump(job)]
    assert updates
    for name, job in updates:
        assert job["concurrency"]["cancel-in-progress"] is False, name
        assert "inputs.stack" in job["concurrency"]["group"], name
        assert job["environment"] == "${{ inputs.stack }}", f"{name}: no one can be asked to approve it"
        assert "PLAN=" in yaml.safe_dump(job), f"{name} does more than was planned"
    for workflow in ("main", "update", "nightly"):
        content = yaml.safe_load((ROOT / f".github/workflows/{workflow}.yml").read_text())
        assert (content.get("concurrency") or {}).get("cancel-in-progress", False) is False, workflow


def test_a_plan_is_made_when_its_stack_is_not_being_updated() -> None:
    """A plan waits for the update of its stack that runs before it, which would outdate it."""
    for name, job in _jobs(ROOT / ".github/workflows/main.yml").items():
        assert job["concurrency"] == {"group": f"main-{name}", "cancel-in-progress": False}
        assert job["with"]["stack"] == name


def test_gitlab_keeps_credentials_from_forks() -> None:
    """On GitLab, previews with credentials run for merge requests of the project itself, not for forks."""
    rules = [rule for job in _previews().values() for rule in job["rules"]]
    assert len(rules) == 2
    for rule in rules:
        assert "merge_request_event" in rule["if"]
        assert "$CI_MERGE_REQUEST_SOURCE_PROJECT_ID == $CI_PROJECT_ID" in rule["if"]


def test_gitlab_previews_wait_for_a_reviewer() -> None:
    """On GitLab, no job with credentials starts by itself in a merge request, and previews' environment is their own.

    Its action is one for which GitLab requires the right to deploy to a protected environment.
    """
    content = _gitlab()
    assert content[".preview"]["environment"] == {"name": "$STACK-preview", "action": "prepare"}
    for name, job in _previews().items():
        assert [rule["when"] for rule in job["rules"]] == ["manual"], name
    jobs = {name: job for name, job in content.items() if isinstance(job, dict) and "environment" in job}
    assert {name: job["environment"]["name"] for name, job in jobs.items()} == {
        ".preview": "$STACK-preview",
        ".plan": "$STACK-plan",
        ".up": "$STACK",
    }
    for name, job in content.items():
        if isinstance(job, dict) and job.get("extends") in (".plan", ".up", ".drift"):
            assert not [rule for rule in job.get("rules", ()) if "merge_request_event" in rule["if"]], name


def _previews() -> dict[str, Any]:
    return {name: job for name, job in _gitlab().items() if isinstance(job, dict) and job.get("extends") == ".preview"}


def test_gitlab_updates_alone_too() -> None:
    """On GitLab, a stack has one update at a time, by its plan, and a user starts that of prod."""
    content = _gitlab()
    assert content[".up"]["interruptible"] is False
    assert content[".up"]["resource_group"] == "update-$STACK"
    assert [rule["when"] for rule in content["up-prod"]["rules"]] == ["manual"]
    for job in ("up-dev", "up-prod"):
        assert content[job]["extends"] == ".up"
        assert content[job]["needs"] == [f"plan-{job.removeprefix('up-')}"]


def test_both_hosts_call_the_same_targets() -> None:
    """Both hosts call the same targets of the Makefile, so that a developer can run every step."""
    github, gitlab = _targets(*WORKFLOWS, *ACTIONS), _targets(GITLAB)
    assert github == gitlab
    assert {"check", "unit", "engine", "policies", "diff", "comment", "up", "drift", "workflows"} <= github
    known = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert github <= known


def test_dates_fail_scheduled_jobs_alone() -> None:
    """What ends on a day fails a job of the schedule on both hosts, and no pull request, update or other test."""
    calling = [name for name, job in _all_jobs() if "make dates" in yaml.safe_dump(job)]
    assert calling == ["nightly/dates"]
    assert "schedule" in yaml.safe_load((ROOT / ".github/workflows/nightly.yml").read_text())[True]
    asked = {name: job for name, job in _gitlab().items() if "make dates" in yaml.safe_dump(job)}
    assert [rule["if"] for job in asked.values() for rule in job["rules"]] == ['$CI_PIPELINE_SOURCE == "schedule"']


def test_tools_are_cached_by_what_decides_them() -> None:
    """Both hosts' caches of tools have other keys as soon as a file or a Go changes that decides what is built."""
    (cache,) = (step for step in _prepare() if "actions/cache@" in step.get("uses", ""))
    github = set(re.findall(r"'([^']+)'", cache["with"]["key"]))
    assert github == {"toolkit/engine/tools/**", "tests/support/debian.py", ".github/actions/prepare/action.yml"}
    gitlab = _gitlab()[".tools"]["cache"][0]["key"]["files"]
    hashed = {path for pattern in gitlab for path in ROOT.glob(pattern)}
    built = [path for path in (ROOT / "toolkit/engine/tools").rglob("*") if path.is_file() and path.suffix != ".pyc"]
    assert {*built} - hashed == set()


def test_go_of_ci_builds_every_module() -> None:
    """Both hosts install a Go that no module is newer than: they set GOTOOLCHAIN=local, so it fetches no other."""
    modules = (ROOT / "toolkit/engine/tools/go_modules").glob("*/go.mod")
    newest = max(_numbers(re.findall(r"^go (\S+)$", path.read_text(), re.M)[0])[:2] for path in modules)
    (installed,) = (step["with"]["go-version"] for step in _prepare() if "actions/setup-go@" in step.get("uses", ""))
    image = re.fullmatch(r"golang:([\d.]+)-\w+(@sha256:[0-9a-f]{64})?", _gitlab()[".tools"]["image"])
    assert image is not None
    assert _numbers(installed)[:2] >= newest
    assert _numbers(image[1])[:2] >= newest


def _prepare() -> list[dict[str, Any]]:
    steps: list[dict[str, Any]] = yaml.safe_load((ROOT / ".github/actions/prepare/action.yml").read_text())["runs"][
        "steps"
    ]
    return steps


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def test_every_stack_is_reviewed() -> None:
    """Every stack is checked and compared in a pull request."""
    jobs: Mapping[str, Any] = _jobs(ROOT / ".github/workflows/pull-request.yml")
    for job in ("policies", "compare"):
        assert sorted(jobs[job]["strategy"]["matrix"]["stack"]) == STACKS, job
    assert sorted(_gitlab()[".stacks"]["parallel"]["matrix"][0]["STACK"]) == STACKS


@pytest.mark.engine
@pytest.mark.parametrize(
    ("file", "before", "after", "message"),
    [
        (".github/workflows/main.yml", "runs-on", "runs-on", ""),
        (".github/workflows/update.yml", "needs: plan", "needs: plans", "plans"),
        (".github/workflows/pull-request.yml", "persist-credentials: false", "fetch-tags: false", "artipacked"),
        (".ci/gitlab.yml", "when: manual", "when: sometimes", "sometimes"),
        (".github/renovate.json", '"regex"', '"regexp"', "regexp"),
    ],
)
def test_linters_refuse_faults(file: str, before: str, after: str, message: str, tmp_path: Path) -> None:
    """The linters accept the workflows, and refuse a fault in each of them."""
    for path in _CHECKED:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / path).is_dir():
            shutil.copytree(ROOT / path, tmp_path / path, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / path, tmp_path / path)
    (tmp_path / ".venv").symlink_to(ROOT / ".venv")
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    target = tmp_path / file
    target.write_text(target.read_text().replace(before, after))
    done = subprocess.run(
        ["make", "-o", ".venv/.installed-dev", "workflows"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode == 0) is (message == ""), done.stdout + done.stderr
    assert message in done.stdout + done.stderr
