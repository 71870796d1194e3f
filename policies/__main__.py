"""The policy pack `hpc`: what the engine runs for `--policy-pack policies`.

The engine starts it with this folder as the working directory; the rules are found from the repository's root.
"""

import sys
from pathlib import Path

# In the place of this folder, whose modules would hide others of the same name.
sys.path.pop(0)
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from core.garbage_collection import collect_seldom

collect_seldom()
from policies.exceptions import ExceptionsError  # noqa: E402
from policies.pack.server import serve  # noqa: E402

try:
    serve()
except ExceptionsError as error:
    sys.exit(" ".join(str(error).split()))
