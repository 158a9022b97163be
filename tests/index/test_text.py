import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from whoosh.lang.porter2 import stem

from index.text import MAX_WORD_CHARS, terms, words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Read a file.", ["read", "a", "file"]),
        ("get_current_time", ["get", "current", "time"]),
        ("getUserById", ["get", "user", "by", "id", "getuserbyid"]),
        ("HTTPServer", ["http", "server", "httpserver"]),
        ("listURLs", ["list", "urls", "listurls"]),
        ("GitHub", ["git", "hub", "github"]),
        ("base64", ["base", "64", "base64"]),
        ("browser.take-screenshot/v2", ["browser", "take", "screenshot", "v", "2", "v2"]),
        ("ﬁle ＡＰＩ", ["file", "api"]),
        ("créer Überweisung", ["creer", "uberweisung"]),
        ("Погода в Москве", ["погода", "в", "москве"]),
        ("天气预报", ["天气", "气预", "预报"]),
        ("查API文档", ["查", "api", "文档"]),
        ("東京の天気", ["東京", "京の", "の天", "天気"]),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("फ़ाइल फाइल", ["फाइल", "फाइल"]),  # with the dot and without
        ("ढूँढो ढूंढो", ["ढूंढो", "ढूंढो"]),  # the nasal as a dot and as a dot in a bow
        ("สร้างไฟล์", ["สร้", "ร้า", "าง", "งไ", "ไฟ", "ฟล์"]),  # marks stay with their letters
        ("깃허브 이슈", ["깃허", "허브", "이슈"]),
        ("إنشاء مكتبة", ["انشاء", "مكتبه"]),
        ("می\u200cخواهم", ["ميخواهم"]),
        ("ёлка", ["елка"]),
        ("Größe Straße cœur", ["grosse", "strasse", "coeur"]),
        ("x" * 100, ["x" * MAX_WORD_CHARS]),
        ("", []),
        (" \t\n…!?_--", []),
        ("a\ud800b", ["a", "b"]),
    ],
)
def test_text_is_taken_apart_into_words(text: str, expected: list[str]) -> None:
    assert list(words(text)) == expected


def test_terms_are_stemmed_and_leave_out_how_a_request_is_put() -> None:
    assert list(terms("Could you please list the running containers?", stem)) == ["list", "run", "contain"]


@settings(deadline=None)
@given(st.text(st.characters()))
def test_a_word_is_never_empty_long_or_broken_by_white_space(text: str) -> None:
    for word in words(text):
        assert len(word) > 0
        assert word.split() == [word]
        assert "^" not in word


@settings(deadline=None)
@given(st.text(st.characters()))
def test_terms_can_be_made_of_any_text_and_written_as_bytes(text: str) -> None:
    for term in terms(text, stem):
        assert term.encode()


@settings(deadline=None)
@given(st.lists(st.from_regex(r"[a-z]{2,10}", fullmatch=True), min_size=1, max_size=5))
def test_camel_and_snake_case_of_a_name_share_their_words(parts: list[str]) -> None:
    snake = "_".join(parts)
    camel = parts[0] + "".join(part.capitalize() for part in parts[1:])
    assert set(words(snake)) <= set(words(camel))
