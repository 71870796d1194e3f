"""The whole of a review that was shortened for a comment: its file beside the comment's, an artefact of the job."""

from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote


def file_of(comment: Path) -> Path:
    """Return the file of the whole review: `dev.whole.md` beside `dev.md`."""
    return comment.with_name(f"{comment.stem}.whole{comment.suffix}")


def sentence(comment: Path, environment: Mapping[str, str]) -> str:
    """Return where the whole review is, in Markdown, for a comment that was shortened; empty for another."""
    whole = file_of(comment)
    if not whole.is_file():
        return ""
    address = _address(whole, environment)
    job = f"[this job]({address})" if address else "the job that wrote this"
    return f"\nThe whole review is `{whole.name}`, an artefact of {job}.\n"


def _address(whole: Path, environment: Mapping[str, str]) -> str:
    """Return the page of the job's artefacts, on the server that the job's host names; empty outside of a job."""
    if environment.get("GITHUB_ACTIONS") == "true":
        server, repository, run = (environment.get(f"GITHUB_{key}") for key in ("SERVER_URL", "REPOSITORY", "RUN_ID"))
        return f"{server}/{repository}/actions/runs/{run}#artifacts" if server and repository and run else ""
    job, project = environment.get("CI_JOB_URL"), environment.get("CI_PROJECT_DIR")
    if environment.get("GITLAB_CI") != "true" or not job:
        return ""
    path = whole.resolve()
    if project and path.is_relative_to(Path(project).resolve()):
        return f"{job}/artifacts/file/{quote(str(path.relative_to(Path(project).resolve())))}"
    return f"{job}/artifacts/browse"
