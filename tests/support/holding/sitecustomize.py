"""Put in front of a gateway's path, this makes `import mcp` wait until somebody opens the pipe named by HOLD_MCP.

So what is answered while it waits was answered without the SDK. While it waits it also prints to standard output, as a
careless library would.
"""

import os
import subprocess
import sys
from collections.abc import Sequence
from types import ModuleType


class Holding:
    """A finder that finds nothing, but takes its time for `mcp`."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> None:
        if name != "mcp" or "HOLD_MCP" not in os.environ:
            return
        print("a stray print", flush=True)
        os.write(1, b"stray bytes\n")
        subprocess.run(["echo", "a stray child"], check=True)
        os.write(2, b"mcp is wanted\n")
        os.close(os.open(os.environ["HOLD_MCP"], os.O_RDONLY))


sys.meta_path.insert(0, Holding())
