"""The text that a model reads when its arguments don't fit: what is wrong, what is expected, how a call looks.

It is put together from problems and a signature alone, so it can't hold what was sent.
"""

from collections.abc import Sequence

from server.arguments.problems import MAX_SUGGESTIONS, Problem, quoted

# A quarter of what one search answer may be; the lines below keep it there, and the last cut makes it certain.
MAX_TEXT_CHARS = 2_000
MAX_LINE_CHARS = 300
# A path of a few names; the message after it must stay readable.
MAX_PATH_CHARS = 120
# The signature of a large tool is longer than its problems; `tool_describe` has the whole.
MAX_SIGNATURE_CHARS = 700

_FORM = 'Call it as: {"id": "<the same id>", "args": {<the properties above>}}'


def explain(problems: Sequence[Problem], signature: str, *, by_its_own_name: bool = False) -> str:
    """Each problem on a line, the expected signature, and the form of a call; at most `MAX_TEXT_CHARS`.

    A tool that was called by its own name takes its arguments as they are: there is no other form to show.
    """
    expected = f"Expected: {_cut(signature, MAX_SIGNATURE_CHARS)}"
    tail = expected if by_its_own_name else f"{expected}\n{_FORM}"
    lines = ["The arguments do not fit this tool; it was not called."]
    room = MAX_TEXT_CHARS - len(tail) - len(lines[0]) - len("- and 99 more\n\n")
    for index, problem in enumerate(problems):
        line = _cut(_line(problem), MAX_LINE_CHARS)
        room -= len(line) + 1
        if room < 0:
            lines.append(f"- and {len(problems) - index} more")
            break
        lines.append(line)
    return "\n".join([*lines, tail])


def _line(problem: Problem) -> str:
    others = ", ".join(quoted(name) for name in problem.suggestions[1:MAX_SUGGESTIONS])
    near = f" Also near: {others}." if others else ""
    return f"- {_cut(problem.path, MAX_PATH_CHARS) or 'arguments'}: {problem.message}{near}"


def _cut(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"
