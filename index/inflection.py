"""How words of other languages change their shape: small tables of prefixes and endings. Knows no word and no meaning.

What the lexicon writes once is met in many shapes. Some are added when the lexicon is read (`spellings`), others are
taken back to what the lexicon may have (`readings`), and what is left behind a known word may be a mere ending
(`is_ending`). All letters are folded (see `text.py`), so no table has an accent.

Laws:
1. A table may make shapes that nobody uses: they cost little. Only a shape that is another common word must not be made.
2. The number of readings of a word is bounded by the tables, not by the text.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

ANY_LANGUAGE = ""
MIN_STEM_CHARS = 3  # what is left of a shorter word without its prefix or ending could be anything

# The article, conjunctions and prepositions that Arabic writes together with the next word; the persons of a verb.
_ARABIC_PREFIXES = ("ال", "وال", "بال", "فال", "كال", "لل", "ولل", "و", "ب", "ل", "ف")
_ARABIC_PERSONS = ("ي", "ت", "ن")
_ARABIC_ENDINGS = ("ات", "ين", "ون", "ان", "ها", "هم", "نا", "ت", "ه", "ي", "ا")  # plurals, possessives, cases

# What stands before the "ge" or "zu" of a German verb: ab-ge-rufen, herunter-zu-laden.
_GERMAN_SEPARABLE = re.compile(
    r"(ab|an|auf|aus|bei|dar|durch|ein|fest|frei|herunter|hinzu|her|hoch|mit|nach|um|vor|weg|weiter|wieder|zuruck"
    r"|zusammen|zu)(?:ge|zu)(.{3,})"
)
_GERMAN_DIGRAPH = re.compile(r"([aou])e")  # typed for ä, ö, ü

# Of Spanish and Portuguese verbs, by their infinitives.
_ROMANCE_VERBS = {
    "ar": "a as amos an am ais o e es emos en em ei ou aste aron aram aba aban ava avam ado ada ados adas ando ara aran "
    "arao aria ariam are aremos",
    "er": "e es emos en em o a as amos an am i io eu este ieron eram ia ian iam ido ida idos idas iendo endo era eran eria",
    "ir": "e es imos en em o a as amos an am i io iu iste ieron iram ia ian iam ido ida idos idas iendo indo ira iran iria",
}
_ROMANCE_PRONOUNS = re.compile(r"(?:me|te|se|nos|les?|l[oa]s?)$")  # asigna-le, mostrar-me
# busque, pague, cruce, dirija come from buscar, pagar, cruzar, dirigir.
_ROMANCE_SOUNDS = {"qu": "c", "gu": "g", "c": "z", "j": "g"}

# The letters that follow the stem of a Japanese verb, by the last letter of its dictionary form.
_JAPANESE_VERBS = {
    "う": "わいえおっ",
    "く": "かきけこい",
    "ぐ": "がぎげごい",
    "す": "さしせそ",
    "つ": "たちてとっ",
    "ぶ": "ばびべぼん",
    "む": "まみめもん",
    "る": "らりれろったてまなよさ",
}
_HIRAGANA_ENDING = re.compile(r"[\u3041-\u309f]{1,8}")
_KOREAN_ENDING = re.compile(
    r"(?:하|해|했|할|한|합|기|긴|어|아|여|었|았|였|고|는|은|을|를|이|가|의|에|서|로|으로|와|과|도|만|까지|부터|에게|한테|께|보다|처럼|들|줘"
    r"|주|줄|달라|돼|되|된|될|됩|싶|시|십|세|요|지|면|야|니|나|네|게|자|려|던|있|없|라|다|습|인|음|된|중|별|좀|란|랑)+"
)
# A Korean stem that ends in a vowel melts with the vowel of its ending: 바꾸 + 어 is 바꿔.
_MELTED_VOWELS = {"ㅏ": "ㅏ", "ㅗ": "ㅘ", "ㅜ": "ㅝ", "ㅡ": "ㅓ", "ㅣ": "ㅕ", "ㅐ": "ㅐ"}
_VOWELS = "ㅏㅐㅑㅒㅓㅔㅕㅖㅗㅘㅙㅚㅛㅜㅝㅞㅟㅠㅡㅢㅣ"
_FINALS = (0, 4, 8, 16, 17, 20)  # none, and the ㄴ, ㄹ, ㅁ, ㅂ, ㅆ that endings put below a stem
_FINAL_R = 8
_FIRST_SYLLABLE, _SYLLABLES_A_VOWEL = 0xAC00, 28


def spellings(form: str, language: str) -> tuple[str, ...]:
    """The form, and what else may stand where it is written: the stems of a verb, the oblique case of a noun."""
    if language == "ja" and len(form) > 1 and form[-1] in _JAPANESE_VERBS:
        return (form, *(form[:-1] + letter for letter in _JAPANESE_VERBS[form[-1]]))
    if language == "ko" and form.endswith("-"):
        return tuple(dict.fromkeys(_korean_stems(form[:-1]))) if len(form) > MIN_STEM_CHARS - 1 else (form[:-1],)
    if language == "hi" and len(form) > MIN_STEM_CHARS and form[-1] in "ाी":
        return (form, form[:-1] + ("े" if form[-1] == "ा" else "ि"), form[:-1] + ("ो" if form[-1] == "ा" else "ि"))
    return (form,)


def readings(word: str) -> Iterator[tuple[str, str]]:
    """What a word may be a shape of, and in which language: first the word itself, in any."""
    yield word, ANY_LANGUAGE
    if "\u0600" <= word[0] <= "\u06ff":
        yield from ((other, "ar") for other in dict.fromkeys(_arabic(word)))
    elif word.isascii() and word.isalpha():
        yield from ((other, "de") for other in _german(word))
        yield from ((other, language) for other in dict.fromkeys(_romance(word)) for language in ("es", "pt"))


def is_ending(text: str) -> bool:
    """Whether a piece that follows a known word, without a space, is only its ending."""
    return bool(_HIRAGANA_ENDING.fullmatch(text) or _KOREAN_ENDING.fullmatch(text))


def _arabic(word: str) -> Iterator[str]:
    """Without what is written together with the word, before it and after it."""
    bare = [word.removeprefix(prefix) for prefix in ("", *_ARABIC_PREFIXES)]
    bare += [word.removeprefix(prefix) for prefix in _ARABIC_PERSONS]
    for start in bare:
        if len(start) >= 2:
            yield start
        yield from (
            start.removesuffix(ending)
            for ending in _ARABIC_ENDINGS
            if start.endswith(ending) and len(start) - len(ending) >= MIN_STEM_CHARS
        )


def _german(word: str) -> Iterator[str]:
    if word.startswith("ge") and len(word) >= 2 + MIN_STEM_CHARS:
        yield word[2:]
    if found := _GERMAN_SEPARABLE.match(word):
        yield found[1] + found[2]
    if (plain := _GERMAN_DIGRAPH.sub(r"\1", word)) != word:
        yield plain


def _romance(word: str) -> Iterator[str]:
    """Infinitives, also of a verb with pronouns; and that verb without them."""
    bare = _ROMANCE_PRONOUNS.sub("", word)
    for verb in (word, bare, _ROMANCE_PRONOUNS.sub("", bare)):
        if len(verb) < MIN_STEM_CHARS:
            continue
        if verb != word:
            yield verb
        for size in range(1, 6):
            stem = verb[:-size]
            if len(stem) < MIN_STEM_CHARS - 1:
                break
            for infinitive in _INFINITIVES.get(verb[-size:], ()):
                yield stem + infinitive
                if verb[-size] in "eaio":
                    yield from (
                        stem.removesuffix(sound) + other + infinitive
                        for sound, other in _ROMANCE_SOUNDS.items()
                        if stem.endswith(sound)
                    )


def _infinitives() -> Mapping[str, Sequence[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for infinitive, endings in _ROMANCE_VERBS.items():
        for ending in endings.split():
            found[ending].append(infinitive)
    return MappingProxyType(found)


_INFINITIVES = _infinitives()


def _korean_stems(stem: str) -> Iterator[str]:
    """A verb's stem as it is, with what endings put below it, and melted with the vowel of an ending."""
    yield stem
    place = ord(stem[-1]) - _FIRST_SYLLABLE
    if not 0 <= place < 11_172:
        return
    final = place % _SYLLABLES_A_VOWEL
    if final == _FINAL_R:  # 만들: 만드는, 만든
        yield from (stem[:-1] + chr(_FIRST_SYLLABLE + place - final + other) for other in (0, 4, 17))
    if final:
        return
    consonant, vowel = divmod(place // _SYLLABLES_A_VOWEL, len(_VOWELS))
    for letter in (_VOWELS[vowel], _MELTED_VOWELS.get(_VOWELS[vowel], _VOWELS[vowel])):
        start = _FIRST_SYLLABLE + (consonant * len(_VOWELS) + _VOWELS.index(letter)) * _SYLLABLES_A_VOWEL
        yield from (stem[:-1] + chr(start + other) for other in _FINALS)
