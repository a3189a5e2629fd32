"""A packed body is read as it comes; what cannot be read is an error, not a crash."""

from __future__ import annotations

import gzip
import zlib
from typing import Any

import pytest
from probe_transcripts import DONE, MS, STOP, answered, delta, read

from pipeline.probes.reading import read_sample


def gzipped(data: bytes) -> bytes:
    return gzip.compress(data)


def deflated(data: bytes) -> bytes:
    return zlib.compress(data)


def deflated_bare(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


@pytest.mark.parametrize(
    ("coding", "pack"),
    [("gzip", gzipped), ("X-GZIP", gzipped), ("deflate", deflated), ("deflate", deflated_bare)],
)
def test_a_packed_stream_is_read_byte_by_byte(coding: str, pack: Any) -> None:
    packed = pack(delta(content="Hi") + STOP + DONE)
    pieces = [(at, packed[at : at + 1]) for at in range(len(packed))]
    sample = read_sample(answered(*pieces, headers={"content-encoding": coding}))
    assert (sample.outcome, sample.chunk_bytes) == ("ok", (2,))
    assert sample.content_encoding == coding.lower()


def test_a_stream_packed_with_flushes_keeps_the_stamp_of_each_event() -> None:
    packer = zlib.compressobj(wbits=31)
    events = [delta(content="a"), delta(content="b"), STOP + DONE]
    packed = [packer.compress(data) + packer.flush(zlib.Z_SYNC_FLUSH) for data in events]
    sample = read(*packed, headers={"content-encoding": "gzip"})
    assert sample.chunk_ns == (1 * MS, 2 * MS)


def test_several_members_are_one_stream() -> None:
    packed = gzipped(delta(content="a")) + gzipped(delta(content="b") + STOP + DONE)
    assert read(packed, headers={"content-encoding": "gzip"}).chunk_bytes == (1, 1)


@pytest.mark.parametrize("coding", ["br", "zstd", "gzip, br"])
def test_a_coding_that_we_do_not_read_is_an_error(coding: str) -> None:
    sample = read(b"\x0b\x02\x80", headers={"content-encoding": coding})
    assert sample.outcome == "stream_error"
    assert sample.reason == f"answered in {coding} though identity was asked for"
    assert sample.content_encoding == coding


@pytest.mark.parametrize("coding", ["gzip", "deflate"])
def test_a_body_that_is_not_packed_as_it_says_is_an_error(coding: str) -> None:
    sample = read(DONE, DONE, headers={"content-encoding": coding})
    assert (sample.outcome, sample.reason) == (
        "stream_error",
        f"the body is not {coding} as it says",
    )


def test_a_body_that_inflates_without_end_is_an_error() -> None:
    bomb = gzipped(bytes(65 * 1024 * 1024))
    sample = read(bomb, headers={"content-encoding": "gzip"})
    assert sample.reason == "the body inflates to more than 64 MiB"


def test_a_packed_refusal_is_read() -> None:
    body = gzipped(b'{"error": {"message": "no credits"}}')
    sample = read(body, status=402, headers={"content-encoding": "gzip"})
    assert sample.reason == "HTTP 402: no credits"
