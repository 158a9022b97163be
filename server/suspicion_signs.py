"""What the texts of a definition speak of, sentence by sentence: concepts, and signs that are no words.

Laws
1. A sensitive thing that the tool's name or first sentence speaks of is its business, and counts nowhere in its texts.
2. The time is linear in the text.
"""

import functools
import re
from collections.abc import Iterator, Set
from dataclasses import dataclass
from typing import Final

from server.concepts import Concepts, Said, as_read, table, words_of

LONGEST_SENTENCE: Final = 600
"""A longer one is looked at in pieces that overlap by a half. Patterns look a bounded way ahead, so the work is linear."""

SIGNS: Final = ("foreign", "input_name", "sink", "name", "address", "shell", "encoded", "param")
"""Concepts that no word stands for: the name of another server's tool, of one of its own parameters, of one of those that
can hold anything, of something else; an address; a command; something to be decoded; any text outside the description."""

BUSINESS: Final = "secret|keyfile|talk|personal|rules|typed"
"""What a tool may be there for."""

_SENTENCE: Final = re.compile(
    r"(?<=[.!?:;])\s+|\n\s*\n|\n\s*(?:[-*\u2022#]|\d+[.)])\s|(?<=\u3002)|(?<=[!?:;])(?=[\u3040-\u9fff\uac00-\ud7af])"
)
_NAME_PARTS: Final = re.compile(r"(?<=[a-z])(?=[A-Z])|[_\-.]")

_PATH: Final = re.compile(
    r"~/\.[a-z]|~/library|(?<![\w.])\.env\b|/etc/(?:passwd|shadow)|\bid_(?:rsa|ed25519|ecdsa|dsa)\b"
    r"|(?<!\w)\.(?:ssh|aws|kube|gnupg|netrc|npmrc|pypirc|docker|git-credentials|pgpass)\b|\bwallet\.dat\b"
    r"|\.(?:kdbx|pem|ppk|p12|pfx|keystore|jks)\b|/proc/(?:self|\d)|\$home/|%(?:userprofile|appdata)%"
    r"|\bcredentials\.(?:json|ya?ml|toml)|database\.yml|\.(?:bash|zsh)_history|\bmcp\.json|claude_desktop_config"
    r"|\bhosts\.yml|\bsecrets\.(?:ya?ml|json|toml)|\bnetrc\b|\blogin data\b|\bkubeconfig\b|/root/\.|\bprocess\.env\b"
    r"|\bos\.environ\b|\bprintenv\b"
)
_ADDRESS: Final = re.compile(r"https?://|(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,64}\.[a-z]|\b\d{1,3}(?:\.\d{1,3}){3}\b")
_SHELL: Final = re.compile(
    r"\|\s?(?:sudo )?(?:ba|z|da)?sh\b|\b(?:curl|wget) (?:-|https?:|\d)|\bchmod\b|\brm -r|\bnpm (?:i|install)\b"
    r"|\bpip3? install\b|\bgit\+https?:|\| ?nc \d|\balter role\b|\bcrontab\b|\bsudo \w|base64 -d|\beval ?\(|\bnpx -y\b"
    r"|\bpowershell -"
)
_ENCODED: Final = re.compile(r"\bbase64\b|\brot-?13\b|\bhex(?:adecimal)?\b|\bdecod\w|\\u00\d\d|(?<![\w/+])[\w/+]{40}")

_PATTERNS: Final = (("keyfile", _PATH), ("address", _ADDRESS), ("shell", _SHELL), ("encoded", _ENCODED))

_SINK: Final = re.compile(
    r"context|kontext|contexte|contexto|note|memo|diag|meta|trace|debug|hint|profil|perfil|backgr|baselin|origin|origen"
    r"|provenanc|eviden|session|signal|extra|detail|info|side|comment|licen|cache|telemetr|audit|payload|state|history"
    r"|verlauf|vorgang|umgebung|ambiente|key|token|sig|ref|plan|intent|subject|register|priors|bias|self|setup|recovery"
    r"|blob|reason|env|purpose|remark|aux|misc|attest|proof|verif|auth|challenge|receipt|log|report|feedback|source"
    r"|quelle|tenant|client|caller|user|agent|kommentar|options|footer|tag|label|data|body|content"
)
"""In names of parameters that can be made to take anything."""

_SENSITIVE_NAMES: Final = frozenset("ssh env config dotenv kubeconfig auth login kubectl helm kube".split())
"""In the name of a tool that handles keys or their files."""


@dataclass(frozen=True, slots=True)
class Text:
    """One text of a definition. `is_side` outside the description."""

    text: str
    is_side: bool


@functools.cache
def concepts() -> Concepts:
    rows = [
        (concept, language, [form.strip() for form in forms.split(",")])
        for concept, language, forms in table("concepts.tsv")
    ]
    return Concepts(rows, SIGNS)


def pieces(text: str) -> Iterator[str]:
    """The sentences, each on one line; of a long one, pieces that overlap by a half."""
    for sentence in _SENTENCE.split(text):
        flat = " ".join(sentence.split())
        for start in range(0, max(1, len(flat) - LONGEST_SENTENCE // 2), LONGEST_SENTENCE // 2):
            yield flat[start : start + LONGEST_SENTENCE]


class Reader:
    """Reads the texts of one definition. `inputs` are the names of its parameters, `others` of other servers' tools."""

    def __init__(self, name: str, first_sentence: str, inputs: Set[str], others: Set[str]) -> None:
        self._known = concepts()
        self._bits = self._known.bits
        self._inputs = inputs
        self._others = others
        self._kept = ~self._business(name, first_sentence)
        self._denies_file = self._known.mask("carry|read|keyfile|secret")

    def __call__(self, text: Text) -> list[Said]:
        """What each sentence of the text says."""
        read = as_read(text.text)
        side = self._bits["param"] if text.is_side else 0
        patterns = [(self._bits[name], pattern) for name, pattern in _PATTERNS if pattern.search(read)]
        return [self._said(sentence, side, patterns) for sentence in pieces(read) if sentence]

    def _said(self, sentence: str, found: int, patterns: list[tuple[int, re.Pattern[str]]]) -> Said:
        words = words_of(sentence)
        said = self._known.said(sentence, words)
        found |= said.affirmed | self._names(sentence, words)
        for bit, pattern in patterns:
            if pattern.search(sentence) and not (pattern is _PATH and said.denied & self._denies_file):
                found |= bit
        return Said(found & self._kept, said.denied)

    def _names(self, sentence: str, words: list[str]) -> int:
        found = 0
        different = frozenset(words)
        if not self._others.isdisjoint(different):
            found |= self._bits["foreign"]
        for word in self._inputs & different:
            if "_" in word or _is_filled(sentence, word):
                found |= self._bits["input_name"] | (self._bits["sink"] if _SINK.search(word) else 0)
        if "_" in sentence and any("_" in word for word in different - self._inputs - self._others):
            found |= self._bits["name"]
        return found

    def _business(self, name: str, first_sentence: str) -> int:
        words = as_read(_NAME_PARTS.sub(" ", name))
        affirmed = [self._known.said(text, words_of(text)).affirmed for text in (words, first_sentence)]
        found = (affirmed[0] | affirmed[1]) & self._known.mask(BUSINESS)
        files = self._known.mask("secret|keyfile")
        if found & files or _PATH.search(first_sentence) or not _SENSITIVE_NAMES.isdisjoint(words.split()):
            found |= files
        return found


@functools.lru_cache(1024)
def _filled(word: str) -> re.Pattern[str]:
    return re.compile(
        r"(?:\b(?:in|into|as|to|via|through|with|at|under|feld|en|dans|em|nel|\u0432)\W{1,3}|[`'\"])"
        + re.escape(word)
        + r"\b"
    )


def _is_filled(sentence: str, word: str) -> bool:
    """Whether the parameter is spoken of as one, and the word not only used."""
    return bool(_filled(word).search(sentence))
