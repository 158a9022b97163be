"""Hold our signatures against those that OpenClaw 2026.9.6 gives of its own tools: `make golden SHARED=folder`.

    python tests/benchmarks/hint_golden.py FOLDER

FOLDER holds `hint-golden.json` (tool: input and, where it says one, output; and crafted schemas under `__examples`),
`openclaw-core-tools-full.json` and `session-tools-schemas.json`. Ends with 1 if any line differs.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

from index import JsonObject, output_signature, signature


def pairs(folder: Path) -> Iterator[tuple[str, str | None, str | None]]:
    """What is compared: a name for it, the line that is wanted, and the line that we say."""
    golden = json.loads((folder / "hint-golden.json").read_text("utf-8"))
    core = {tool["name"]: tool for tool in json.loads((folder / "openclaw-core-tools-full.json").read_text("utf-8"))}
    outputs = json.loads((folder / "session-tools-schemas.json").read_text("utf-8"))
    for name, example in golden.pop("__examples").items():
        yield f"example {name}, input", example["input"], signature(example["schema"])
        yield f"example {name}, output", example["output"], output_signature(example["schema"])
    for name, wanted in golden.items():
        yield f"{name}, input", wanted["input"], signature(core[name]["parameters"])
        schema: JsonObject | None = outputs.get(name, {}).get("outputSchema")
        if schema is not None:
            yield f"{name}, output", wanted.get("output"), output_signature(schema)


def main(folder: Path) -> int:
    compared = list(pairs(folder))
    differing = [(name, wanted, said) for name, wanted, said in compared if wanted != said]
    for name, wanted, said in differing:
        print(f"{name}\n  wanted {wanted}\n  said   {said}")
    print(f"{len(compared) - len(differing)} of {len(compared)} lines are equal")
    return bool(differing)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
