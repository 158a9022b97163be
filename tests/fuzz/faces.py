"""All faces that are fuzzed."""

from typing import Final

from tests.fuzz.host_face import HTTP, STDIO
from tests.fuzz.trials import Face
from tests.fuzz.upstream_face import CALLS, STARTS

FACES: Final[tuple[Face, ...]] = (STDIO, HTTP, CALLS, STARTS)
