"""The policy pack `hpc`: what the engine runs for `--policy-pack policies`.

`PolicyPack(...)` starts a server and does not return, so this is the only place that builds one. The engine starts it
with this folder as the working directory; the rules are found from the repository's root.
"""

import sys
from pathlib import Path

# In the place of this folder, whose modules would hide others of the same name.
sys.path.pop(0)
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from pulumi_policy import PolicyPack

from policies.pack import NAME, policies

PolicyPack(NAME, policies=policies())
