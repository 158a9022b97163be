"""`make fuzz`: feeds bad messages to the gateway's faces for a bounded time each, and tells the seed.

Exit code 1 if something was found: then the smallest failing case is printed. The same seed makes the same cases, in the
same order; how many of them there is time for depends on the machine.
"""

import argparse
import random
import sys
import traceback

import anyio

from tests.fuzz.faces import FACES
from tests.fuzz.trials import Finding, fuzz

MOST_SHOWN = 2_000  # of a case that could not be made smaller; the seed makes it again


def _tell(finding: Finding) -> None:
    traceback.print_exception(finding.error, file=sys.stdout)
    print(f"FOUND, in a gateway of the kind {finding.kind!r}. The smallest failing case, one message a line:")
    for case in finding.cases:
        print(f"  {case[:MOST_SHOWN]!r}" + ("" if len(case) <= MOST_SHOWN else f" … of {len(case):,} bytes"))


async def _run(seed: int, seconds: float, names: list[str]) -> bool:
    is_well = True
    for face in FACES:
        if names and face.name not in names:
            continue
        tally = await fuzz(face, seed, seconds)
        print(f"{face.name:18} {tally.cases:7,} cases, {tally.starts:4} gateways", flush=True)
        if tally.finding is not None:
            is_well = False
            _tell(tally.finding)
    return is_well


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=120.0, help="for each face")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().getrandbits(32))
    parser.add_argument("--face", action="append", default=[], choices=[face.name for face in FACES])
    options = parser.parse_args()
    print(f"fuzzing with --seed {options.seed}, {options.seconds:g} s for each face", flush=True)
    sys.exit(not anyio.run(_run, options.seed, options.seconds, options.face))


if __name__ == "__main__":
    main()
