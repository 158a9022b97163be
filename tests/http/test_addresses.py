"""Where `--http` listens: what is an address, and which addresses only this machine can reach."""

import pytest

from server.http.address import Address, address_of, listen, read_address


@pytest.mark.parametrize(
    ("text", "address", "is_loopback"),
    [
        ("8000", Address("127.0.0.1", 8000), True),
        (":8000", Address("127.0.0.1", 8000), True),
        ("localhost:0", Address("localhost", 0), True),
        ("LOCALHOST:80", Address("localhost", 80), True),
        ("127.9.9.9:80", Address("127.9.9.9", 80), True),
        ("[::1]:80", Address("::1", 80), True),
        ("0.0.0.0:80", Address("0.0.0.0", 80), False),  # noqa: S104
        ("[::]:80", Address("::", 80), False),
        ("192.168.1.2:80", Address("192.168.1.2", 80), False),
        ("localhost.evil.test:80", Address("localhost.evil.test", 80), False),
    ],
)
def test_an_address_is_read_and_told_apart(text: str, address: Address, is_loopback: bool) -> None:
    assert (read_address(text), read_address(text).is_loopback) == (address, is_loopback)


@pytest.mark.parametrize(
    "text", ["", "x", "host:", "host:65536", "::1:80", "1:2:3", "host:-1", "host:८", "host:99999999999"]
)
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"expected|brackets"):
        read_address(text)


@pytest.mark.parametrize("text", ["0", "localhost:0"])
def test_port_zero_is_one_that_is_free(text: str) -> None:
    with listen(read_address(text)) as listener:
        assert address_of(listener).host == "127.0.0.1"
        assert address_of(listener).port > 0
