"""How long the machines run: seconds in `make test`, minutes in `make fuzz`, which sets MACHINES=fuzz."""

import os
from typing import Final

from hypothesis import HealthCheck, settings

LEAN: Final = os.environ.get("MACHINES") != "fuzz"
_SLOW: Final = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]

MACHINE: Final = settings(
    max_examples=50 if LEAN else 1_000,
    stateful_step_count=30 if LEAN else 60,
    deadline=None,
    suppress_health_check=_SLOW,
    derandomize=LEAN,
)

FEW: Final = settings(max_examples=3 if LEAN else 60, deadline=None, suppress_health_check=_SLOW, derandomize=LEAN)
"""For what starts processes."""
