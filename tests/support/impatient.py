"""`serve`, in which nobody has time to approve a call: a question is open for so many seconds (ASK_SECONDS)."""

import os

from server import asking, clearance
from server.cli import main


def run() -> None:
    seconds = float(os.environ["ASK_SECONDS"])
    clearance.ASK_SECONDS = asking.OPEN_SECONDS = seconds  # type: ignore[misc]
    main()


if __name__ == "__main__":
    run()
