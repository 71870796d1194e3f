"""Declares the manifests in the folder `own` of the project by the program's own code, beside programs/objects.py."""

import runpy
import sys
from pathlib import Path

import pulumi
from pulumi_kubernetes import Provider

config = pulumi.Config()
sys.path.insert(0, config.require("root"))

from stacks.layers import own_objects  # noqa: E402

own = own_objects.read(["own"], Path(__file__).parent.parent)
own_objects.refuse_declared(own)
provider = Provider("own-cluster", **config.require_object("provider"))
own_objects.build(own, [], {}, pulumi.ResourceOptions(provider=provider), protect=False)
runpy.run_path(config.require("objects_program"))
