"""Fails unless the job's environment has a protection rule: GitHub creates one that does not exist, without rules."""

import json
import os
import sys
from urllib.request import Request, urlopen

environment, rule = os.environ["ENVIRONMENT"], os.environ["RULE"]
url = f"{os.environ['GITHUB_API_URL']}/repos/{os.environ['GITHUB_REPOSITORY']}/environments/{environment}"
headers = {"Authorization": f"Bearer {os.environ['TOKEN']}", "Accept": "application/vnd.github+json"}
with urlopen(Request(url, headers=headers), timeout=60) as answer:  # noqa: S310 - the API's address is the runner's
    rules = sorted({entry["type"] for entry in json.load(answer).get("protection_rules") or ()})
if rule not in rules:
    has = ", ".join(rules) or "none"
    sys.stdout.write(
        f"::error::environment {environment} lacks rule {rule} (it has {has}): see docs/guide/operations.md\n"
    )
    sys.exit(1)
