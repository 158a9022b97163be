import pytest

from upstream_clients import Endpoint, HeadersHelper


@pytest.mark.parametrize(
    ("other", "may"),
    [
        ("https://x.test/elsewhere", True),
        ("https://x.test:443/mcp", True),
        ("https://X.TEST/mcp", True),
        ("https://x.test:8443/mcp", False),
        ("http://x.test/mcp", False),
        ("https://y.test/mcp", False),
        ("https://x.test.evil.test/mcp", False),
        ("https://x.test@evil.test/mcp", False),
        ("//x.test/mcp", False),
        ("/mcp", False),
        ("https://x.test:port/", False),
        ("https://[x/", False),
        ("", False),
    ],
)
def test_headers_go_to_the_same_origin_only(other: str, may: bool) -> None:
    assert Endpoint("https://x.test/mcp", ("http",), 1, 1).is_same_origin(other) is may


def test_an_endpoint_shows_neither_its_address_nor_its_headers() -> None:
    helper = HeadersHelper(("hunter2",), {"A": "hunter2"})
    endpoint = Endpoint("https://hunter2@x.test/?key=hunter2", ("http",), 1, 1, {"A": "hunter2"}, helper)
    assert "hunter2" not in repr(endpoint)
