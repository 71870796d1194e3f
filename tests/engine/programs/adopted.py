"""As objects.py, in a stack that has adopted what the setting `adopted` names."""

import runpy
import sys

import pulumi

config = pulumi.Config("kit")
sys.path.insert(0, config.require("root"))

from stacks.layers import adoption  # noqa: E402 - found by the line before

adoption.keep(config.require_object("adopted"))
runpy.run_path(config.require("objects_program"))
