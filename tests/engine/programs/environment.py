"""Runs the project's own program; the setting `root` of the project `kit` is its folder."""

import runpy
import sys
from pathlib import Path

import pulumi

root = Path(pulumi.Config("kit").require("root"))
sys.path.insert(0, str(root))
runpy.run_path(str(root / "__main__.py"))
