"""Takes out of a transcript's text what was never meant to be read: thinking, tool calls as text, control tokens. Pure.

Laws
1. Nothing of the kinds below is left, however nested, crossed or cut off, and whatever their removal joins together.
2. Work is linear in the text: each piece is put down once and taken back at most once.
3. What is cut off (a block that nothing closes) ends the text.

The text is read once from left to right. What is read is put down; when a `>` or `]` completes something, all of it is
taken back, so that what comes next is looked at together with what stood before. Text after a removed `[Tool Call: …]` or
`[Tool Result …]` that belongs to it goes afterwards, and then everything is read again until nothing more is found.
"""

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Final

FURTHER_PASSES: Final = 4
"""Real texts are clean after one. One that is not after these was made not to be, and loses all of its brackets."""

LONGEST_CONTROL_TOKEN: Final = 256

BLOCKS: Final = (
    r"think(?:ing)?|thought|antthinking|relevant[-_]memories|tool_calls?|function_calls?|invoke|minimax:tool_call"
)
_TAG: Final = re.compile(
    rf"\s*+(/?)\s*+(?:(?:antml:)?(?P<block>{BLOCKS})|[|｜]{{1,4}}+\s{{0,4}}+DSML\s{{0,4}}+[|｜]{{1,4}}+\s{{0,4}}+(?P<dsml>[\w-]{{1,64}}+))"
    r"(?=[\s/]|\Z)(?P<rest>.*)\Z",
    re.IGNORECASE | re.DOTALL,
)
"""What stands between `<` and `>` of a tag. DSML has its tags behind a mark with bars of either width."""

_CONTROL: Final = re.compile(r"[|｜].*[|｜]\Z", re.DOTALL)
_CONTROL_BEGUN: Final = re.compile(r"[|｜][\w▁.:-]{1,64}[|｜]?\Z")
_DOWNGRADED: Final = re.compile(
    r"\s*+(?:(?P<call>tool\s{1,8}call)(?=\s*+(?::|\Z))|(?P<result>tool\s{1,8}result)|historical\s{1,8}context)",
    re.IGNORECASE,
)
_PREFIX: Final = 32
"""Characters that decide whether a bracket is one of these."""

_ARGUMENTS: Final = re.compile(r"\s{0,64}arguments:[ \t]{0,64}\n?", re.IGNORECASE)
_QUOTED_OR_BRACE: Final = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)|[{}]', re.DOTALL)
"""Matches at every quote, also at one that nothing closes: else each would be looked at to the end of the text again."""

_DELIMITERS: Final = frozenset("<>[]")
_PIECES: Final = re.compile(r"([<>\[\]])")

# Stand in the text between the passes, where text that belongs to what was removed may follow. Unicode keeps them free.
_AFTER_CALL, _AFTER_RESULT = "\ufdd0", "\ufdd1"
_MARKS: Final = re.compile(f"([{_AFTER_CALL}{_AFTER_RESULT}])")


@dataclass(frozen=True, slots=True)
class Cleaned:
    """`is_cut`: a block that nothing closes has taken the rest of the text with it."""

    text: str
    is_cut: bool


def without_scaffolding(text: str) -> Cleaned:
    """The text as a reader should have it."""
    text = _MARKS.sub("", text)
    if not _PIECES.search(text):
        return Cleaned(text, is_cut=False)
    first = _Pass(leaves_marks=True).read(text)
    before, now, is_cut = text, _without_what_follows(first.text), first.is_cut
    for _ in range(FURTHER_PASSES):
        if now == before:
            return Cleaned(now, is_cut)
        again = _Pass(leaves_marks=False).read(now)
        before, now, is_cut = now, again.text, is_cut or again.is_cut
    return Cleaned(now if now == before else _PIECES.sub("", now), is_cut)


@dataclass(slots=True)
class _Pass:
    """One reading. `angles` and `squares` are where an open `<` and `[` have been put down, `blocks` what is open."""

    leaves_marks: bool
    put: list[str] = field(default_factory=list)
    angles: list[int] = field(default_factory=list)
    squares: list[int] = field(default_factory=list)
    blocks: list[tuple[str, int]] = field(default_factory=list)
    open: Counter[str] = field(default_factory=Counter)

    def read(self, text: str) -> Cleaned:
        for piece in _PIECES.split(text):
            if piece and not self._is_taken(piece):
                self.put.append(piece)
        is_cut = self._end()
        text = "".join(self.put)
        end = _end_before_begun(text)
        return Cleaned(text[:end], is_cut or end < len(text))

    def _is_taken(self, piece: str) -> bool:
        """Whether the piece completes something, and so goes with it."""
        if piece == "<":
            self.angles.append(len(self.put))
        elif piece == "[":
            self.squares.append(len(self.put))
        return (piece == ">" and self._takes_tag()) or (piece == "]" and self._takes_bracket())

    def _takes_tag(self) -> bool:
        """Whether this `>` completes something that goes."""
        at = self._last_angle()
        if at is None:
            return False
        inner = "".join(self.put[at + 1 :])  # which is taken back, or never looked at again
        if len(inner) <= LONGEST_CONTROL_TOKEN and _CONTROL.match(inner):
            self._take_back(at)
            return True
        tag = _TAG.match(inner)
        if tag is None:
            self._forget_angles()
            return False
        self._take_back(at)
        kind = _kind(tag["block"] or tag["dsml"])
        if tag[1]:
            self._close(kind)
        elif not tag["rest"].rstrip().endswith("/"):
            self.blocks.append((kind, at))
            self.open[kind] += 1
        return True

    def _close(self, kind: str) -> None:
        """Everything since the block was opened goes. A closing tag without a block goes alone."""
        if kind == "minimax:tool_call" and not self.open[kind]:
            kind = "invoke"  # which such text forgets to close
        if not self.open[kind]:
            return
        while True:
            closed, at = self.blocks.pop()
            self.open[closed] -= 1
            if closed == kind:
                self._take_back(at)
                return

    def _takes_bracket(self) -> bool:
        base = self._base()
        if not self.squares or self.squares[-1] < base:
            return False
        at = self.squares.pop()
        found = _DOWNGRADED.match(self._prefix(at + 1))
        if found is None:
            return False
        self._take_back(at)
        if self.leaves_marks and not self.blocks:
            self.put += {"call": [_AFTER_CALL], "result": [_AFTER_RESULT]}.get(found.lastgroup or "", [])
        return True

    def _end(self) -> bool:
        """An open block, or bracket, takes the rest along. Whether something was."""
        ends = [at for _, at in self.blocks[:1]]
        ends += next(([at] for at in self.squares if _DOWNGRADED.match(self._prefix(at + 1))), [])
        if ends:
            self._take_back(min(ends))
        return bool(ends)

    def _base(self) -> int:
        """Where the innermost open block began: what stands before it is not completed from inside."""
        return self.blocks[-1][1] if self.blocks else 0

    def _last_angle(self) -> int | None:
        return self.angles[-1] if self.angles and self.angles[-1] >= self._base() else None

    def _forget_angles(self) -> None:
        """A `>` that completes nothing ends whatever was begun: no tag has one inside."""
        base = self._base()
        while self.angles and self.angles[-1] >= base:
            self.angles.pop()

    def _take_back(self, at: int) -> None:
        del self.put[at:]
        for begun in (self.angles, self.squares):
            while begun and begun[-1] >= at:
                begun.pop()

    def _prefix(self, start: int) -> str:
        found = ""
        for piece in self.put[start : start + _PREFIX]:
            if piece in _DELIMITERS or len(found) >= _PREFIX:
                break
            found += piece[:_PREFIX]
        return found


def _end_before_begun(text: str) -> int:
    """Where the text ends without the tags and tokens that were begun at its end and not finished."""
    end = len(text)
    while True:
        at = text.rfind("<", 0, end)
        inner = text[at + 1 : end]
        if at < 0 or ">" in inner or not (_TAG.match(inner) or _CONTROL_BEGUN.match(inner)):
            return end
        end = at


def _kind(name: str) -> str:
    """Spellings of one kind close each other."""
    return name.lower().replace("-", "_")


def _without_what_follows(text: str) -> str:
    """Arguments after a call, and what a result was: to the next blank line."""
    parts = _MARKS.split(text)
    kept = [parts[0]]
    for mark, part in zip(parts[1::2], parts[2::2], strict=True):
        kept.append(_without_arguments(part) if mark == _AFTER_CALL else part.partition("\n\n")[2])
    return "".join(kept)


def _without_arguments(part: str) -> str:
    begun = _ARGUMENTS.match(part)
    if begun is None:
        return part
    rest = part[begun.end() :]
    if not rest.startswith("{"):
        return rest.partition("\n")[2]
    depth = 0
    for brace in _QUOTED_OR_BRACE.finditer(rest):
        depth += {"{": 1, "}": -1}.get(brace[0], 0)
        if depth == 0 and brace[0] == "}":
            return rest[brace.end() :]
    return ""
