"""The policy pack `hpc`: what the engine runs for `--policy-pack policies`.

The engine starts it with this folder as the working directory; the rules are found from the repository's root.
"""

import sys
from pathlib import Path

# In the place of this folder, whose modules would hide others of the same name.
sys.path.pop(0)
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from policies.exceptions import ExceptionsError
from policies.pack.server import serve

try:
    serve()
except ExceptionsError as error:
    sys.exit(" ".join(str(error).split()))
