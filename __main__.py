"""The program: settings in, an environment out."""

from pathlib import Path

import pulumi

from stacks import environment

settings = environment.load()
for name, value in environment.build(settings, environment.accounts(settings), Path(__file__).parent).items():
    pulumi.export(name, value)
