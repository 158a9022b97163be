"""Reads an `envFile`: `NAME=value` lines, as written. Nothing is interpolated, and nothing goes into our own environment."""

import io
from dataclasses import dataclass
from pathlib import Path

from server.config.files import read_text

# An env file holds a few dozen short lines; a megabyte of it is some other file.
MAX_ENV_FILE_BYTES = 1024 * 1024


@dataclass(frozen=True, slots=True)
class EnvFile:
    values: dict[str, str]
    bad_lines: tuple[int, ...]  # lines that say nothing, counted from 1
    is_group_writable: bool

    def __repr__(self) -> str:
        return f"EnvFile({len(self.values)} variables, bad_lines={self.bad_lines})"


def read_env_file(path: Path) -> EnvFile:
    """Raises: ConfigError."""
    from dotenv.parser import parse_stream

    file = read_text(path, MAX_ENV_FILE_BYTES)
    values: dict[str, str] = {}
    bad_lines: list[int] = []
    for binding in parse_stream(io.StringIO(file.text)):
        if binding.key is not None and binding.value is not None:
            values[binding.key] = binding.value
        elif binding.error or binding.key is not None:
            bad_lines.append(binding.original.line)
    return EnvFile(values, tuple(bad_lines), file.is_group_writable)
