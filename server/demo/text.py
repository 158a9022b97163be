"""The text tools of the `everyday` server: counting, cleaning, comparing, encoding. Plain functions of their input."""

import base64
import difflib
import hashlib
import re
import unicodedata
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from server.demo.serving import Refused

MAX_CHARS = 100_000
# Comparing takes lines x lines in the worst case.
MAX_COMPARED_LINES = 2_000
WORDS_PER_MINUTE = 230
WORD = re.compile(r"\w+(?:['’-]\w+)*")

Text = Annotated[str, Field(description="The text to work on.", max_length=MAX_CHARS)]
Case = Literal["upper", "lower", "title", "sentence", "snake", "kebab", "camel", "pascal"]


class Counts(BaseModel, frozen=True):
    characters: int
    characters_without_spaces: int
    words: int
    lines: int
    paragraphs: int
    reading_minutes: float


class Replaced(BaseModel, frozen=True):
    text: str
    replacements: int


class Digest(BaseModel, frozen=True):
    algorithm: str
    hex: str


def count_words(text: Text) -> Counts:
    """Count the characters, words, lines and paragraphs of a text and estimate how long reading it takes."""
    words = sum(1 for _ in WORD.finditer(text))
    return Counts(
        characters=len(text),
        characters_without_spaces=sum(not character.isspace() for character in text),
        words=words,
        lines=len(text.splitlines()),
        paragraphs=sum(1 for block in re.split(r"\n[ \t]*\n", text) if block.strip()),
        reading_minutes=round(words / WORDS_PER_MINUTE, 1),
    )


def slugify(
    text: Annotated[str, Field(description="A title or name.", min_length=1, max_length=1_000)],
    max_length: Annotated[int, Field(description="Cut after this many characters.", ge=1, le=200)] = 80,
) -> str:
    """Turn a title into a short name for addresses and files: small letters, digits and hyphens, accents removed."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    slug = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:max_length].rstrip("-")
    if not slug:
        raise Refused("Nothing is left of this text: it has no Latin letters or digits.")
    return slug


def change_case(text: Text, case: Case) -> str:
    """Write a text in another case: upper, lower, title, sentence, or as a name in snake, kebab, camel or pascal case."""
    words = [word.lower() for word in re.findall(r"[^\W_]+", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", text))]
    pascal = "".join(word.capitalize() for word in words)
    written: dict[Case, str] = {
        "upper": text.upper(),
        "lower": text.lower(),
        "title": WORD.sub(lambda word: word.group().capitalize(), text),
        "sentence": text[:1].upper() + text[1:].lower(),
        "snake": "_".join(words),
        "kebab": "-".join(words),
        "camel": pascal[:1].lower() + pascal[1:],
        "pascal": pascal,
    }
    return written[case]


def replace_text(
    text: Text,
    find: Annotated[str, Field(description="What to look for, word for word.", min_length=1, max_length=1_000)],
    replace_with: Annotated[str, Field(description="What to put in its place.", max_length=1_000)],
    limit: Annotated[int, Field(description="Replace at most this many, from the start; 0 for all.", ge=0)] = 0,
) -> Replaced:
    """Find and replace plain text; no patterns. Tells how many were replaced."""
    count = min(text.count(find), limit or MAX_CHARS)
    if len(text) + count * (len(replace_with) - len(find)) > MAX_CHARS:
        raise Refused(f"The result would be longer than {MAX_CHARS:,} characters.")
    return Replaced(text=text.replace(find, replace_with, count), replacements=count)


def compare_texts(
    before: Text,
    after: Text,
    context_lines: Annotated[int, Field(description="Unchanged lines around each change.", ge=0, le=20)] = 3,
) -> str:
    """Compare two texts line by line; answers with a unified diff, or says that they are equal."""
    old, new = before.splitlines(), after.splitlines()
    if max(len(old), len(new)) > MAX_COMPARED_LINES:
        raise Refused(f"At most {MAX_COMPARED_LINES:,} lines can be compared.")
    lines = list(difflib.unified_diff(old, new, "before", "after", n=context_lines, lineterm=""))
    if not lines:
        return "The texts are equal." if before == after else "The texts differ only in their line ends."
    return "\n".join(lines)


def hash_text(text: Text, algorithm: Literal["sha256", "sha512", "sha1", "md5", "blake2b"] = "sha256") -> Digest:
    """Compute a digest of a text (as UTF-8), to compare or to identify it. Not for passwords."""
    digest = hashlib.new(algorithm, text.encode(), usedforsecurity=False)
    return Digest(algorithm=algorithm, hex=digest.hexdigest())


def base64_text(
    text: Text,
    direction: Literal["encode", "decode"] = "encode",
    url_safe: Annotated[bool, Field(description="Use - and _ in place of + and /, without padding.")] = False,
) -> str:
    """Encode a text as Base64 (from UTF-8), or decode Base64 that holds UTF-8 text."""
    if direction == "encode":
        raw = text.encode()
        return base64.urlsafe_b64encode(raw).decode().rstrip("=") if url_safe else base64.b64encode(raw).decode()
    packed = "".join(text.split()).rstrip("=")
    try:
        decoded = base64.b64decode(
            packed + "=" * (-len(packed) % 4), altchars=b"-_" if url_safe else None, validate=True
        )
        return decoded.decode()
    except ValueError as error:  # not Base64, or bytes that are no UTF-8
        raise Refused("This is not Base64 of a UTF-8 text.") from error
