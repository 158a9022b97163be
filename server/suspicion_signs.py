"""What the texts of a definition speak of, sentence by sentence: concepts, and signs that are no words.

Laws
1. A sensitive thing that the tool's name or first sentence speaks of is its business, and counts nowhere in its texts.
2. The time is linear in the text.
"""

import functools
import re
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Final, TypeAlias

from server.concepts import Concepts, Said, as_read, may_be_foreign, table, word_list, words_of
from server.suspicion_phrases import PHRASES, WORDS
from server.suspicion_words import MEANINGS

LONGEST_SENTENCE: Final = 600
"""A longer one is looked at in pieces that overlap by a half. Patterns look a bounded way ahead, so the work is linear."""

SIGNS: Final = (
    *("foreign", "input_name", "sink", "name", "address", "shell", "encoded", "param", "kind"),
    *(f"p_{name}" for name in MEANINGS),
)
"""Concepts that no word stands for: the name of another server's tool, of one of its own parameters, of one of those that
can hold anything, of something else; an address; a command; something to be decoded; any text outside the description; a
kind of tools that are not its own; and what each phrase of `suspicion_phrases.py` means."""

DENIES_FILES: Final = "carry|read|keyfile|secret"
"""Where one of these is denied, a path is named to warn of it."""

BUSINESS: Final = "secret|keyfile|talk|personal|rules|typed"
"""What a tool may be there for."""

_SENTENCE: Final = re.compile(
    r"\s(?:(?<=[.!?:;]\s)\s*|(?<=\n)[^\S\n]*(?:\n|(?:[-*#\u2022]|\d{1,3}[.)])\s))"
    r"|(?<=\u3002)|(?<=[!?:;])(?=[\u3040-\u9fff\uac00-\ud7af])"
)
_SENTENCE_ASCII: Final = re.compile(r"\s(?:(?<=[.!?:;]\s)\s*|(?<=\n)[^\S\n]*(?:\n|(?:[-*#]|\d{1,3}[.)])\s))")
"""The same; begins with one class, which is found faster."""

_HYPHENED: Final = re.compile(r"(?<![\w-])\w+(?:-\w+)+")

TELLING: Final = (
    "turn|secret|keyfile|talk|personal|typed|rules|opened|hide|skip|lift|authority|hand|elsewhere|foreign|other|pretext"
    "|threat|persist|copy|own|direct|sink|address|shell|answer|bad|present"
    "|p_conceals|p_overrides|p_addresses|p_secrets|p_others|p_pushes|p_diverts|p_smuggles|p_obeys|kind|downgrade|promo"
    "|ruin|command|prior|ignore|found"
)
"""Concepts of which honest texts rarely hold several at one place."""

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

_PATH_MARKS: Final = (
    "~/.", "~/library", ".env", "/etc/", ".ssh", ".aws", ".kube", ".gnupg", "netrc", "npmrc", ".pypirc", ".docker",
    ".git-", "pgpass", "wallet.dat", ".kdbx", ".pem", ".ppk", ".p12", ".pfx", ".keystore", ".jks", "/proc/", "$home/",
    "%userprofile%", "%appdata%", "credentials.", "database.yml", "sh_history", "mcp.json", "claude_desktop",
    "hosts.yml", "secrets.", "login data", "kubeconfig", "/root/.", "process.env", "os.environ", "printenv", "id_rsa",
    "id_ed25519", "id_ecdsa", "id_dsa",
)  # fmt: skip
_SHELL_MARKS: Final = (
    "| sh", "|sh", "|bash", "bash", "zsh", "dash", "|zsh", "|dash", "curl ", "wget ", "chmod", "rm -r", "npm i",
    "pip install", "pip3 install", "git+http", "| nc", "|nc", "alter role", "crontab", "sudo ", "base64 -d", "eval",
    "npx ",
)  # fmt: skip

_Pattern: TypeAlias = tuple[str, re.Pattern[str], tuple[str, ...]]

_PATTERNS: Final[tuple[_Pattern, ...]] = (
    ("keyfile", _PATH, _PATH_MARKS),
    ("address", _ADDRESS, ("://", "@")),
    ("shell", _SHELL, _SHELL_MARKS),
    ("encoded", _ENCODED, ("decod", "\\u00", "base64", "rot13", "rot-13", "hex")),
)
"""What each stands for, and marks: without one of them it is not met, unless there is a long word or a number. For two of
them one of the words of a list must be there first, which is found faster."""

_LISTED: Final = frozenset({"keyfile", "shell"})

LONG_WORD: Final = 40
_KIND: Final = re.compile(
    r"\b(?:(?:other|another|neighbou?ring|(?:through|via|with|using|from|by) the) (?!(?:same|mcp|following) )(?:\w+ ){1,2}"
    r"|whichever |whatever )(?:tools?|servers?|connectors?|plugins?|integrations?)\b(?! (?:of|on|in) this)"
)
"""Tools or servers that are spoken of by what they are there for, and are not this server's."""

_KINDS: Final = frozenset(
    f"{kind}{ending}" for kind in ("tool", "server", "connector", "plugin", "integration") for ending in ("", "s")
)

_SIGN_OF: Final = {meaning: f"p_{name}" for name, meaning in MEANINGS.items()}

_SINK: Final = re.compile(
    r"context|kontext|contexte|contexto|note|memo|diag|meta|trace|debug|hint|profil|perfil|backgr|baselin|origin|origen"
    r"|provenanc|eviden|session|signal|extra|detail|info|side|comment|licen|cache|telemetr|audit|payload|state|history"
    r"|verlauf|vorgang|umgebung|ambiente|key|token|sig|ref|plan|intent|subject|register|priors|bias|self|setup|recovery"
    r"|blob|reason|env|purpose|remark|aux|misc|attest|proof|verif|auth|challenge|receipt|log|report|feedback|source"
    r"|quelle|tenant|client|caller|user|agent|kommentar|options|footer|tag|label|data|body|content"
)
"""In names of parameters that can be made to take anything."""


@dataclass(frozen=True, slots=True)
class Text:
    """One text of a definition, as it is read. `is_side` outside the description."""

    read: str
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
    for sentence in (_SENTENCE_ASCII if text.isascii() else _SENTENCE).split(text):
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

    def __call__(self, text: Text) -> list[Said]:
        """What each sentence of the text says; nothing where none says anything telling."""
        words = frozenset(words_of(text.read))
        marked = [one for one in _PATTERNS if _is_marked(text.read, words, one[0], one[2])]
        if not (marked or self._may_tell(text.read, words) or WORDS & words):
            return []
        side = self._bits["param"] if text.is_side else 0
        sentences = [(sentence, words_of(sentence)) for sentence in pieces(text.read) if sentence]
        found = [self._signs(sentence, words, marked) for sentence, words in sentences]
        tells = [
            bool(signs) or self._may_tell(sentence, frozenset(words))
            for signs, (sentence, words) in zip(found, sentences, strict=True)
        ]
        near = (any(tells[max(0, place - 1) : place + 2]) for place in range(len(tells)))
        return [
            self._said(sentence, words, side | signs) if is_near else Said()
            for (sentence, words), signs, is_near in zip(sentences, found, near, strict=True)
        ]

    def _signs(self, sentence: str, words: list[str], marked: Sequence[_Pattern]) -> int:
        different = frozenset(words)
        found = sum(
            self._bits[name]
            for name, pattern, marks in marked
            if _is_marked(sentence, different, name, marks) and pattern.search(sentence)
        )
        for phrase in PHRASES if not WORDS.isdisjoint(different) else ():
            if not phrase.words.isdisjoint(different) and phrase.is_said_in(sentence):
                found |= self._bits[_SIGN_OF[phrase.meaning]]
        return found | (self._bits["kind"] if not _KINDS.isdisjoint(different) and _KIND.search(sentence) else 0)

    def _may_tell(self, text: str, words: Set[str]) -> bool:
        return (
            not text.isascii()
            or any(form <= words for anchor in _anchor_words() & words for form in _anchors()[anchor])
            or self._are_others(text, words)
            or may_be_foreign(words)
            or any(_SINK.search(word) and ("_" in word or _is_filled(text, word)) for word in self._inputs & words)
        )

    def _said(self, sentence: str, words: list[str], signs: int) -> Said:
        said = self._known.said(sentence, words)
        if said.denied & _mask(DENIES_FILES):
            signs &= ~self._bits["keyfile"]
        return Said((said.affirmed | signs | self._names(sentence, words)) & self._kept, said.denied)

    def _names(self, sentence: str, words: list[str]) -> int:
        found = 0
        different = frozenset(words)
        if self._are_others(sentence, different):
            found |= self._bits["foreign"]
        for word in self._inputs & different:
            if "_" in word or _is_filled(sentence, word):
                found |= self._bits["input_name"] | (self._bits["sink"] if _SINK.search(word) else 0)
        if "_" in sentence and any("_" in word for word in different - self._inputs - self._others):
            found |= self._bits["name"]
        return found

    def _are_others(self, text: str, words: Set[str]) -> bool:
        return bool(self._others) and not (
            self._others.isdisjoint(words) and ("-" not in text or self._others.isdisjoint(_HYPHENED.findall(text)))
        )

    def _business(self, name: str, first_sentence: str) -> int:
        words = as_read(_NAME_PARTS.sub(" ", name))
        affirmed = [self._known.said(text, words_of(text)).affirmed for text in (words, first_sentence)]
        found = (affirmed[0] | affirmed[1]) & _mask(BUSINESS)
        files = _mask("secret|keyfile")
        if found & files or _PATH.search(first_sentence) or not word_list("sensitive names").isdisjoint(words.split()):
            found |= files
        return found


@functools.cache
def _mask(names: str) -> int:
    return concepts().mask(names)


@functools.cache
def _anchors() -> Mapping[str, tuple[frozenset[str], ...]]:
    known = concepts()
    return known.anchors(known.mask(TELLING) | known.bits["tell"])


@functools.cache
def _anchor_words() -> frozenset[str]:
    return frozenset(_anchors())


def _is_marked(text: str, words: Set[str], name: str, marks: tuple[str, ...]) -> bool:
    if name in _LISTED and word_list(f"{name} signs").isdisjoint(words):
        return False
    if any(mark in text for mark in marks):
        return True
    if name == "encoded":
        return len(text) >= LONG_WORD and max(map(len, words), default=0) >= LONG_WORD // 3
    return name == "address" and text.count(".") > 2 and any(word.isdigit() for word in words)


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
