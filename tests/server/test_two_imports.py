"""The SDK is imported by two threads at once: the host's side needs it after the first list, an address when it starts."""

import subprocess
import sys
from typing import Final

import pytest

BOTH: Final = """
import sys, threading
sys.setswitchinterval(1e-5)
failed = []

def load(name):
    try:
        __import__(name)
    except BaseException as error:
        failed.append(error)

threads = [threading.Thread(target=load, args=(name,)) for name in sys.argv[1:]]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
sys.exit(repr(failed) if failed else 0)
"""


@pytest.mark.parametrize("names", [("server.sdk", "upstream_clients.http"), ("upstream_clients.http", "server.sdk")])
def test_neither_sees_half_of_what_the_other_is_importing(names: tuple[str, str]) -> None:
    ran = subprocess.run([sys.executable, "-c", BOTH, *names], capture_output=True, text=True, timeout=120, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
