"""The key by which a Gateway elsewhere knows us."""

import stat
from pathlib import Path

from server.device import device_seed


def test_it_is_made_once_and_kept_for_this_user_alone(tmp_path: Path) -> None:
    seed = device_seed(tmp_path / "state")
    (path,) = (tmp_path / "state").iterdir()
    assert (len(seed), device_seed(tmp_path / "state"), path.read_bytes()) == (32, seed, seed)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_one_that_is_damaged_is_made_anew(tmp_path: Path) -> None:
    (tmp_path / "openclaw-device.key").write_bytes(b"short")
    assert len(device_seed(tmp_path)) == 32


def test_where_nothing_can_be_kept_there_is_one_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert len(device_seed(tmp_path / "file")) == 32
