"""Reads another stack's output."""

import pulumi

other = pulumi.StackReference(pulumi.Config("kit").require("stack"))
pulumi.export("seen", other.get_output("stack"))
