"""The options that several commands share, so that each is spelt and explained once."""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final, TypeAlias

import typer

LONGEST_WAIT_SECONDS: Final = 24 * 60 * 60
"""As long as any wait of the configuration may be."""

FLAG: Final = ""
"""What a flag takes, for the help: nothing. Else it would read as if a truth value were to follow."""

ConfigFiles: TypeAlias = Annotated[
    list[Path] | None,
    typer.Option(
        "--config",
        metavar="FILE",
        show_default=False,
        help="The configuration to read. May be given several times: a later file adds to the earlier ones. "
        "Without it: $TOOLFOLD_CONFIG, ./mcp.json, ./.mcp.json, or your own (see `toolfold config path`).",
    ),
]
AsJson: TypeAlias = Annotated[
    bool, typer.Option("--json", metavar=FLAG, help="Print one JSON document instead of text.")
]
WaitSeconds: TypeAlias = Annotated[
    float | None,
    typer.Option(
        "--wait",
        metavar="SECONDS",
        min=0,
        max=LONGEST_WAIT_SECONDS,
        show_default="gateway.startup.timeoutMs",
        help="How long to wait for upstreams that have to be started.",
    ),
]
Refresh: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--refresh", metavar=FLAG, help="Start the upstreams and ask them anew, instead of reading stored listings."
    ),
]


@dataclass(frozen=True, slots=True)
class Wait:
    """How long to wait for upstreams (None: as long as the configuration gives them), and whether for all of them."""

    seconds: float | None = None
    refresh: bool = False

    def within(self, default: float) -> float:
        return default if self.seconds is None or math.isnan(self.seconds) else self.seconds
