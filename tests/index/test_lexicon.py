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
        ("mostrar los commits de una rama", ["show", "commits", "branch"]),
        ("डेटाबेस की सभी तालिकाएँ दिखाओ", ["database", "table", "show"]),
        ("列出数据库中的所有表", ["list", "database", "table"]),
        ("ページのスクリーンショットを撮る", ["page", "screenshot", "撮る"]),
        ("파일 내용을 읽어", ["file", "content", "read", "어"]),
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
    ],
)
def test_english_is_not_taken_for_another_language(text: str) -> None:
    assert meanings(lexicon(), text) == list(words(text))


def test_the_second_half_of_a_german_compound_counts() -> None:
    assert meanings(lexicon(), "Kalendereintrag löschen") == ["calendar", "event/record/item", "delete"]


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
