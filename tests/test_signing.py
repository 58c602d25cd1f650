from contextlib import suppress

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st
from record_world import Story, build

from scoreboard.errors import MalformedInput, WrongUse
from scoreboard.records import signing
from scoreboard.records.bodies import Abandoned
from scoreboard.records.chain import Chain, Relation, relate
from scoreboard.records.signing import draw_key, open_signed, public_key, sign_checkpoint

PEM = draw_key()
KEY = public_key(PEM)


def told() -> Story:
    story = Story()
    story.intent(build("a"), None)
    return story


CHECKPOINT = told().chain.checkpoint()
SIGNED = sign_checkpoint(CHECKPOINT, PEM)


def test_a_signed_checkpoint_opens_to_what_was_signed() -> None:
    assert open_signed(SIGNED, KEY) == CHECKPOINT


def test_it_stays_true_while_the_ledger_grows() -> None:
    story = told()
    story.add(Abandoned(0, None, "cut off"))
    kept = open_signed(SIGNED, KEY)
    chain = Chain(story.origin, watch=frozenset({kept.size}))
    for line in story.lines:
        chain.follow(line)
    assert relate(kept, chain, whole=True) is Relation.EXTENDED


def test_another_key_does_not_open_it() -> None:
    with pytest.raises(MalformedInput, match="is not the expected"):
        open_signed(SIGNED, public_key(draw_key()))


def test_a_checkpoint_re_signed_by_someone_else_under_our_name_does_not_open() -> None:
    forged = sign_checkpoint(CHECKPOINT, draw_key())
    theirs = forged.split(b'"key":"')[1][:64]
    with pytest.raises(MalformedInput, match="signature"):
        open_signed(forged.replace(theirs, KEY.encode()), KEY)


@given(st.integers(0, len(SIGNED) * 8 - 1))
def test_no_bit_of_it_can_be_flipped(place: int) -> None:
    flipped = bytearray(SIGNED)
    flipped[place // 8] ^= 1 << place % 8
    with pytest.raises(MalformedInput, match=r"^checkpoint\.sig"):
        open_signed(bytes(flipped), KEY)


@given(st.binary())
def test_any_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(MalformedInput):
        open_signed(data, KEY)


@pytest.mark.parametrize("key", ["", "00", "z" * 64, "ff" * 32, KEY.upper()])
def test_a_public_key_that_is_none_opens_nothing(key: str) -> None:
    with pytest.raises(MalformedInput):
        open_signed(SIGNED, key)
    with suppress(MalformedInput):
        open_signed(SIGNED.replace(KEY.encode(), key.encode()), key)
        pytest.fail("a key that is none opened a checkpoint")


@pytest.mark.parametrize("pem", [b"", b"secret", PEM[:40], PEM.replace(b"M", b"N", 1)])
def test_a_private_key_that_is_none_signs_nothing(pem: bytes) -> None:
    with pytest.raises(MalformedInput, match="private key"):
        sign_checkpoint(CHECKPOINT, pem)


def test_a_key_of_another_kind_signs_nothing() -> None:
    encoding, form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    other = X25519PrivateKey.generate().private_bytes(encoding, form, serialization.NoEncryption())
    with pytest.raises(MalformedInput, match="not an Ed25519 key"):
        sign_checkpoint(CHECKPOINT, other)


def test_without_the_extra_the_error_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signing, "HAVE_SIGNING", False)
    for attempt in (draw_key, lambda: public_key(PEM), lambda: open_signed(SIGNED, KEY)):
        with pytest.raises(WrongUse, match=r"scoreboard\[sign\]"):
            attempt()
