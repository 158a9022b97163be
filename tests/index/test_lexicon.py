"""The lexicon as data, and how a foreign query is read with it. Whether tools are found is in test_languages.py."""

from importlib import resources

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from index.lexicon import Lexicon, lexicon, read_lexicon
from index.text import words

LINES = resources.files("index").joinpath("words/lexicon.tsv").read_text("utf-8").splitlines()
LANGUAGES = ["es", "hi", "zh", "ja", "ko", "fr", "de", "pt", "ru", "ar"]


def meanings(lexicon: Lexicon, text: str) -> list[str]:
    """The English of each part; what is not known as it stands."""
    return [
        "/".join(meaning.english) or " ".join(part.text for part in meaning.said)
        for meaning in lexicon.read(text)
        if meaning.english != ("*",)
    ]


def test_every_line_has_forms_in_every_language() -> None:
    assert LINES[0].split("\t") == ["en", *LANGUAGES]
    assert LINES[1].startswith("*\t")
    assert len(LINES) > 250
    assert LINES[2].startswith("=\t")
    for line in (*LINES[:2], *LINES[3:]):
        cells = line.split("\t")
        assert len(cells) == 1 + len(LANGUAGES), line
        assert all(list(words(form)) for cell in cells[1:] for form in cell.split(",")), line


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("mostrar los commits de una rama", ["show", "commit", "branch"]),
        ("डेटाबेस की सभी तालिकाएँ दिखाओ", ["database", "table", "show"]),
        ("列出数据库中的所有表", ["list", "database", "table"]),
        ("ページのスクリーンショットを撮る", ["page", "screenshot", "撮る"]),
        ("파일 내용을 읽어", ["file", "content", "read"]),
        ("supprimer un fichier du dépôt", ["delete", "file", "repository"]),
        ("Kommentar zu einem Ticket hinzufügen", ["comment", "issue", "add"]),
        ("apagar um comentário da página", ["delete", "comment", "page"]),
        ("удалить ветку репозитория", ["delete", "branch", "repository"]),
        ("إضافة تعليق على المشكلة", ["add", "comment", "issue"]),
    ],
)
def test_a_sentence_is_read_word_by_word(text: str, expected: list[str]) -> None:
    assert meanings(lexicon(), text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "show me the way to los angeles",
        "book a hotel in la paz",
        "the data of the top 10 movies in a table",
        "die hard movie",
        "a journey planner for the holiday",
        "chat with a pdf",
        "list files",
        "red pie chart",
        "list branches of the fork",
        "print environment variables",
        "onboarding prompts",
    ],
)
def test_english_is_not_taken_for_another_language(text: str) -> None:
    assert meanings(lexicon(), text) == list(words(text))


def test_the_second_half_of_a_german_compound_counts() -> None:
    assert meanings(lexicon(), "Kalendereintrag löschen") == ["calendar", "event/record/item", "delete"]


def test_the_second_half_of_a_german_compound_counts_also_after_an_unknown_first() -> None:
    assert meanings(lexicon(), "Vereinskalender löschen") == ["vereins", "calendar", "delete"]


@pytest.mark.parametrize(
    ("language", "form", "shapes"),
    [
        ("es", "buscar", ["buscando", "busque", "búscame", "buscarlo"]),
        ("pt", "pagar", ["paguei", "pague", "pagando"]),
        ("de", "lad-", ["geladen", "laedt"]),
        ("de", "abruf-", ["abgerufen", "abzurufen"]),
        ("hi", "नक्शा", ["नक्शे", "नक्शों"]),
        ("ja", "書く", ["書いて", "書きたい", "書かない", "書けば"]),
        ("ja", "見る", ["見たい", "見て", "見ます"]),
        ("ko", "바꾸-", ["바꿔줘", "바꾼", "바꿉니다", "바꾸기"]),
        ("ko", "만들-", ["만드는", "만든", "만들어요"]),
        ("ar", "ملف", ["الملفات", "بملفها", "فالملف"]),
        ("ar", "عرض", ["يعرض", "تعرض"]),
    ],
)
def test_a_form_stands_for_its_inflected_shapes(language: str, form: str, shapes: list[str]) -> None:
    small = read_lexicon(f"en\t{language}\n*\txyz\nthing\t{form}\nother\totra, uma, ding\n")
    company = {"es": "otra ", "pt": "uma ", "de": "ding "}.get(language, "")  # that tells the language
    missed = [shape for shape in shapes if "thing" not in meanings(small, company + shape)]
    assert missed == []


def test_a_korean_form_is_met_over_spaces_and_a_lone_syllable_only_where_a_word_begins() -> None:
    small = read_lexicon("en\tko\n*\t를\nwork log\t작업 로그\nbuy\t사\n")
    assert meanings(small, "작업 로그 작업로그") == ["work log", "work log"]
    assert meanings(small, "사") == ["buy"]
    assert meanings(small, "시사점") == ["시사점"]


def test_an_ending_behind_a_known_word_is_nothing_to_look_for() -> None:
    assert meanings(lexicon(), "파일에서") == ["file"]
    assert meanings(lexicon(), "ファイルだったら") == ["file"]
    assert meanings(lexicon(), "ファイル開発部") == ["file", "開発部"]


def test_the_word_as_it_stands_goes_before_what_it_may_be_a_shape_of() -> None:
    small = read_lexicon("en\tes\n*\tun\nfile\tarchivo-\narchive\tarchivar\n")
    assert meanings(small, "un archivo") == ["file"]
    assert meanings(small, "un archivo archivado") == ["file", "archive"]


def test_of_two_languages_with_as_many_words_the_one_that_says_more_is_taken() -> None:
    small = read_lexicon("en\tes\tpt\n*\tel\tdos\nadd\tsumar\tsomar\nnumber\tnumeros\tnumeros\n")
    assert meanings(small, "sumar dos numeros") == ["add", "dos", "number"]


def test_what_is_written_together_with_an_arabic_word_is_taken_off() -> None:
    assert [meanings(lexicon(), text) for text in ("ملف", "الملف", "والملف", "للملف", "بملف")] == [["file"]] * 5


SMALL = read_lexicon(
    "en\tes\tja\n*\tel, de\tの\ntime zone\tzona horaria\tタイムゾーン\ntime\thora-\tタイム\nnetwork\tred\t網\n"
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("zona horaria", ["time zone"]),  # the longest form wins
        ("zona de hora", ["zona", "time"]),
        ("horas", ["time"]),
        ("horarios", ["time"]),
        ("horabcdefghi", ["horabcdefghi"]),  # too long to be an ending
        ("el red de", ["network"]),
        ("タイムゾーンの網", ["time zone", "network"]),
        ("タイム", ["time"]),
        ("タイの網", ["タイ", "network"]),
        ("HORA", ["time"]),
        ("", []),
    ],
)
def test_forms_are_met_as_the_file_says(text: str, expected: list[str]) -> None:
    assert meanings(SMALL, text) == expected


@settings(deadline=None)
@given(st.text(st.characters()) | st.text("कनाएँ の予定 create الملف ветку-", max_size=60))
def test_any_text_is_read_and_none_of_it_is_lost(text: str) -> None:
    read = list(lexicon().read(text))
    said = "".join(part.text for meaning in read for part in meaning.said)
    assert set("".join(words(text))) <= set(said)
