"""The controls of the row about poisoned files: what is planted does act, and the watch for unpickling does see it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.faults.poison import plant_index, poison, watched

OPENED = "import sys; from whoosh.index import open_dir; open_dir(sys.argv[1])"
LOADED = "import sys, pickle; pickle.load(open(sys.argv[1] + '/file', 'rb'))"


@pytest.mark.parametrize("code", [OPENED, LOADED])
@pytest.mark.parametrize("is_watched", [False, True])
def test_what_is_planted_acts_unless_unpickling_is_watched(tmp_path: Path, code: str, is_watched: bool) -> None:
    plant_index(tmp_path, tmp_path / "canary")
    (tmp_path / "file").write_bytes(poison(tmp_path / "canary"))
    env = {**os.environ, **(watched(tmp_path / "unpickled") if is_watched else {})}
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], env=env, capture_output=True, check=False)
    assert ((tmp_path / "canary").exists(), (tmp_path / "unpickled").exists()) == (not is_watched, is_watched)
