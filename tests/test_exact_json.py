"""JSON without loss, and without what no table can hold."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest

from pipeline.exact_json import NotJson, read_json, write_json


def test_a_fraction_keeps_every_digit() -> None:
    assert read_json(b"[0.1000000000000000000001, 7]") == [Decimal("0.1000000000000000000001"), 7]


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"", "body is not JSON (Expecting value at 0): ''"),
        (b"<html>\n <b>522", "body is not JSON (Expecting value at 0): '<html> <b>522'"),
        (b'{"data": [', "body is not JSON (Expecting value at 10): '{\"data\": ['"),
        (b'{"price": NaN}', "body is not usable JSON: NaN is not a number"),
        (b"[-Infinity]", "body is not usable JSON: -Infinity is not a number"),
        (b"[1e99999999999999999999]", "body is not usable JSON"),
        (b'"\xff"', "body is not UTF-8 (byte 1)"),
        (b"[" * 200_000, "body is not usable JSON: nested too deeply"),
        (b"[" + b"9" * 5000 + b"]", "body is not usable JSON"),
    ],
)
def test_a_body_that_is_no_usable_json_is_refused_in_one_line(body: bytes, reason: str) -> None:
    with pytest.raises(NotJson) as refusal:
        read_json(body)
    assert str(refusal.value).startswith(reason)
    assert "\n" not in str(refusal.value)


def test_a_number_beyond_every_double_stays_exact() -> None:
    (number,) = read_json(b"[1e999999999]")
    assert number == Decimal("1e999999999")
    assert write_json(number) == '"1E+999999999"'


def test_a_byte_order_mark_is_no_fault() -> None:
    assert read_json(b"\xef\xbb\xbf{}") == {}


def test_half_of_a_surrogate_pair_becomes_the_replacement_character() -> None:
    body = rb'{"\ud83d": ["a\udc00b", "\ud83d\ude00", "plain", 1]}'
    assert read_json(body) == {"\ufffd": ["a\ufffdb", "\U0001f600", "plain", 1]}


def test_a_number_is_written_as_number_where_a_double_is_exact_and_else_as_text() -> None:
    written = write_json({"b": Decimal("0.1"), "a": Decimal("0.1000000000000000000001"), "c": 1})
    assert written == '{"b":0.1,"a":"0.1000000000000000000001","c":1}'
    assert write_json(json.loads(written), sort_keys=True).startswith('{"a":')
