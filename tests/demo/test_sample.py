from pathlib import Path

import pytest

from server.demo import sample


def test_the_sample_fills_a_folder_once_and_replaces_nothing(tmp_path: Path) -> None:
    sample.prepare(tmp_path)
    files = sorted(file.relative_to(tmp_path).as_posix() for file in tmp_path.rglob("*") if file.is_file())
    assert files == sorted((*sample.FILES, sample.DATABASE))
    with pytest.raises(FileExistsError):
        sample.prepare(tmp_path)
