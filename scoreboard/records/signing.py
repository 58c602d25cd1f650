"""A checkpoint with an Ed25519 signature, whole in one file, so that it can be kept and checked anywhere.

The file is canonical JSON and a newline: ``format``, ``key`` (the public key, 64 hex digits), ``checkpoint`` (the
checkpoint's own bytes as text) and ``signature`` (128 hex digits, over these very bytes). A signed checkpoint stays
true while the ledger grows: whoever has the public key can tell later whether the ledger still extends it.

Needs the extra ``sign`` (cryptography). A private key is a PEM file (PKCS 8) that has no place in a ledger.
"""

import re
from dataclasses import dataclass

from ..errors import MalformedInput, WrongUse
from ..model import require_digest
from ..parse import from_bytes, to_bytes
from .chain import Checkpoint, format_checkpoint, parse_checkpoint

try:
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

    HAVE_SIGNING = True
except ImportError:  # the extra is not installed
    HAVE_SIGNING = False

SIGNED_FORMAT = "scoreboard signed checkpoint v1"
SIGNATURE = re.compile(r"[0-9a-f]{128}")


@dataclass(frozen=True)
class Signed:
    """What the file says. That the signature is right is what :func:`open_signed` checks."""

    format: str
    key: str
    checkpoint: str
    signature: str

    def __post_init__(self) -> None:
        if self.format != SIGNED_FORMAT:
            raise MalformedInput("format", f"{self.format!r} is not {SIGNED_FORMAT!r}")
        require_digest(self.key, "key")
        if not SIGNATURE.fullmatch(self.signature):
            raise MalformedInput("signature", "is not 128 lower-case hex digits")


def draw_key() -> bytes:
    """A new private key as PEM."""
    _require()
    encoding, form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    return Ed25519PrivateKey.generate().private_bytes(encoding, form, serialization.NoEncryption())


def public_key(pem: bytes) -> str:
    """The public key, 64 hex digits, of a private one. MalformedInput when the PEM is no Ed25519 key."""
    return _private(pem).public_key().public_bytes_raw().hex()


def sign_checkpoint(checkpoint: Checkpoint, pem: bytes) -> bytes:
    """The file that says "this ledger ended here", signed."""
    key, data = _private(pem), format_checkpoint(checkpoint)
    public = key.public_key().public_bytes_raw().hex()
    return to_bytes(Signed(SIGNED_FORMAT, public, data.decode("ascii"), key.sign(data).hex())) + b"\n"


def open_signed(data: bytes, key: str, what: str = "checkpoint.sig") -> Checkpoint:
    """The checkpoint in the file, once its signature by ``key`` (64 hex digits) is checked.

    MalformedInput names ``what``: not whole, signed by another key, or not signed by the key that it names.
    """
    _require()
    require_digest(key, "public key")
    if not data.endswith(b"\n"):
        raise MalformedInput(what, "does not end with a newline; it is not whole")
    signed = from_bytes(Signed, data[:-1], what)
    if signed.key != key:
        raise MalformedInput(f"{what}.key", f"{signed.key} is not the expected {key}")
    message = signed.checkpoint.encode()
    try:
        Ed25519PublicKey.from_public_bytes(bytes.fromhex(key)).verify(bytes.fromhex(signed.signature), message)
    except (InvalidSignature, ValueError):
        raise MalformedInput(f"{what}.signature", "is not the key's signature of this checkpoint") from None
    return parse_checkpoint(message, f"{what}.checkpoint")


def _private(pem: bytes) -> "Ed25519PrivateKey":
    _require()
    try:
        key = serialization.load_pem_private_key(pem, None)
    except (ValueError, TypeError) as error:
        raise MalformedInput("private key", f"is not a PEM without a password ({error})") from None
    if not isinstance(key, Ed25519PrivateKey):
        raise MalformedInput("private key", "is not an Ed25519 key")
    return key


def _require() -> None:
    if not HAVE_SIGNING:
        raise WrongUse("signing needs the extra: pip install 'scoreboard[sign]'")
