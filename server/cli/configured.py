"""What every command that reads configuration starts with. Imports nothing heavy: `serve` starts here too."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from server.cli.exits import ExitCode, Failure
from server.config import Ask, ConfigError, Directories, Settings, directories, find_config, load, read_environment


@dataclass(frozen=True, slots=True)
class Configured:
    """The settings in force, and the surroundings that they were read in."""

    settings: Settings
    directories: Directories
    environ: Mapping[str, str] = field(repr=False)
    reread: Callable[[], Settings] = field(repr=False)


def configured(paths: Sequence[Path], ask: Ask | None = None, ask_for: str = "") -> Configured:
    """Reads the files that were named, or the one that is found. `ask`, `ask_for`: see `server.config.load`.

    Raises:
        Failure: there is no configuration, or one that cannot be used.
    """
    environ, cwd = read_environment(), Path.cwd()
    try:
        found = find_config(environ, cwd)
        named = list(paths) or ([found] if found is not None else [])
        if not named:
            raise _no_configuration()
        read = partial(load, named, environ, cwd)
        settings = read() if ask is None else read(ask, ask_for)
        return Configured(settings, directories(environ), environ, read)
    except ConfigError as error:
        raise Failure(ExitCode.CONFIGURATION, error) from None


def answered(paths: Sequence[Path], ask_for: str = "") -> Configured:
    """The same, for commands that a person runs to reach upstreams: at a terminal, inputs without an answer are asked for.

    Raises Failure, as `configured` does.
    """
    from server.config.asking import asking_a_person  # nobody asks in `serve`, which starts with this module

    return configured(paths, asking_a_person(read_environment()), ask_for)


def _no_configuration() -> ConfigError:
    return ConfigError(
        "no_configuration",
        "There is no configuration.",
        "Write one (see `toolfold config path`), give --config FILE, or have one made: toolfold demo --config FILE",
    )
