"""C2SP signed-note v1.0.0: a text, a blank line, and a line for each signature."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import dataclass
from typing import Callable, Dict, List, NamedTuple, Sequence, Tuple, Union

from .. import ed25519
from ..base64_text import from_base64
from ..instant import Unreadable
from ..ml_dsa import ML_DSA_44


class LogError(Unreadable):
    """A note, a checkpoint, a proof or a policy that is none, or that does not hold."""


class UnknownKeyType(LogError):
    """A key of a type that a later version may know."""


class _Type(NamedTuple):
    byte: int
    public_key_bytes: int
    #: With the 8 bytes of time before it, where it is a cosignature.
    signature_bytes: int
    verify: Callable[..., bool]


#: Over the text of the note.
ED25519 = "ed25519"
#: Over a checkpoint, with the time (tlog-cosignature): the signature follows 8 bytes of time.
ED25519_COSIGNATURE = "ed25519-cosignature"
ML_DSA_44_COSIGNATURE = "ml-dsa-44-cosignature"

_TYPES = {
    ED25519: _Type(0x01, 32, 64, ed25519.verify),
    ED25519_COSIGNATURE: _Type(0x04, 32, 8 + 64, ed25519.verify),
    ML_DSA_44_COSIGNATURE: _Type(0x06, ML_DSA_44.public_key_bytes, 8 + ML_DSA_44.signature_bytes, ML_DSA_44.verify),
}


@dataclass(frozen=True)
class VerifierKey:
    """A public key under the name that it signs notes with."""

    name: str
    #: 8 lowercase hex digits; with the name it says which key signed.
    key_id: str
    #: ``ed25519``, ``ed25519-cosignature`` or ``ml-dsa-44-cosignature``.
    type: str
    public_key: bytes


@dataclass(frozen=True)
class SignatureLine:
    #: The name of the key.
    name: str
    #: 8 lowercase hex digits.
    key_id: str
    #: Without the key id: for a cosignature the time and then the signature.
    signature: bytes


@dataclass(frozen=True)
class Note:
    #: Its last newline included, the blank line after it not.
    text: str
    lines: Tuple[SignatureLine, ...]


#: More than the 16 that a verifier has to accept: a log's two, and witnesses.
_MAX_LINES = 32

#: Not empty, no Unicode space and no plus sign; control characters are refused with the whole note. By number, not by property: the
#: same set in every version, and in the project's TypeScript verifier.
_NAME = re.compile("[^+\0-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+")
_LINE = re.compile("— ([^ ]+) ([A-Za-z0-9+/=]+)")
#: The base64 may hold plus signs, and the name does not.
_VKEY = re.compile(r"([^+]*)\+([^+]*)\+(.*)", re.DOTALL)


def parse_note(note: Union[str, bytes]) -> Note:
    """Raises LogError that says why it is no signed note; whether a signature holds is not looked at."""
    whole = well_formed_text(note, "the note")
    # The last one: the text may hold blank lines itself.
    blank = whole.rfind("\n\n")
    if blank == -1:
        raise LogError("the note has no blank line before its signatures")
    signatures = whole[blank + 2 :]
    if not signatures.endswith("\n"):
        raise LogError("the note does not end with a signature line and its newline")
    lines = signatures[:-1].split("\n")
    if len(lines) > _MAX_LINES:
        raise LogError(f"the note has {len(lines)} signature lines; at most {_MAX_LINES} are read")
    return Note(whole[: blank + 1], tuple(_parse_line(line, f"signature line {i}") for i, line in enumerate(lines, 1)))


def well_formed_text(given: Union[str, bytes], what: str) -> str:
    """Text of a note or of a file that holds one. Raises LogError that names it as ``what``, for bytes that are not UTF-8 and for control
    characters other than the newline."""
    try:
        text = given if isinstance(given, str) else given.decode("utf-8")
        text.encode("utf-8")
    except UnicodeError:
        raise LogError(f"{what} is not valid UTF-8") from None
    if re.search("[\0-\x09\x0b-\x1f]", text):
        raise LogError(f"{what} holds a control character")
    return text


def _parse_line(line: str, which: str) -> SignatureLine:
    match = _LINE.fullmatch(line)
    if match is None or _NAME.fullmatch(match[1]) is None:
        raise LogError(f"{which} is not an em dash, a key name and a signature")
    signature = from_base64(match[2])
    if signature is None:
        raise LogError(f"{which} is not canonical base64")
    if len(signature) < 5:
        raise LogError(f"{which} holds no more than a key id")
    return SignatureLine(match[1], signature[:4].hex(), signature[4:])


def verifier_key(name: str, type: str, public_key: bytes) -> VerifierKey:
    """A key under a name, with the id that follows from both.

    Raises LogError where the name cannot stand in a note, or the key has another length than its type has.
    """
    if _NAME.fullmatch(name) is None or re.search("[\ud800-\udfff]", name):
        raise LogError("a key name is not empty and has no space, plus sign or control character")
    due = _TYPES[type].public_key_bytes
    if len(public_key) != due:
        raise LogError(f"the key '{name}' has {len(public_key)} bytes; one for {type} has {due}")
    digest = hashlib.sha256(f"{name}\n".encode("utf-8") + _typed_key(type, public_key)).hexdigest()
    return VerifierKey(name, digest[:8], type, public_key)


def format_vkey(key: VerifierKey) -> str:
    """``<name>+<key id>+<base64 of type and key>``."""
    return f"{key.name}+{key.key_id}+{base64.b64encode(_typed_key(key.type, key.public_key)).decode('ascii')}"


def parse_vkey(text: str) -> VerifierKey:
    """Raises LogError where the text is no such key, is of a type that is not known here (UnknownKeyType), or names another key id than
    its key has: the id is recommended to be computed so (signed-note), and every type known here is."""
    match = _VKEY.fullmatch(text)
    if match is None or _NAME.fullmatch(match[1]) is None or re.fullmatch("[0-9a-f]{8}", match[2]) is None:
        raise LogError("a verifier key is a name, 8 hex digits and base64, with a plus sign between them")
    name, key_id, encoded = match.groups()
    typed = from_base64(encoded)
    if not typed:
        raise LogError(f"the verifier key '{name}' is not canonical base64")
    type = next((one for one, made in _TYPES.items() if made.byte == typed[0]), None)
    if type is None:
        raise UnknownKeyType(f"the verifier key '{name}' is of type 0x{typed[0]:02x}, which is not known")
    key = verifier_key(name, type, typed[1:])
    if key.key_id != key_id:
        raise LogError(f"the verifier key '{name}' has the id {key.key_id}, not {key_id}")
    return key


def verified_lines(
    note: Note,
    keys: Sequence[VerifierKey],
    message_of: Callable[[VerifierKey, SignatureLine], Tuple[bytes, bytes]],
) -> List[Tuple[VerifierKey, SignatureLine]]:
    """The lines whose key is trusted, in the order of the note, one for each key: the first where a key signed twice.

    ``message_of`` is the message that a line's signature is over, and the signature; it raises where the line can have none.

    Raises LogError where the signature of a trusted key does not hold, a repeated one too; other lines are not looked at. None at all is
    no error here: what has to be signed by whom is the caller's rule.
    """
    found: Dict[VerifierKey, SignatureLine] = {}
    for line in note.lines:
        key = next((one for one in keys if (one.name, one.key_id) == (line.name, line.key_id)), None)
        if key is None:
            continue
        if not _holds(key, line, message_of):
            raise LogError(f"the signature of {key.name} (key id {key.key_id}) does not hold")
        found.setdefault(key, line)
    return list(found.items())


def _holds(
    key: VerifierKey, line: SignatureLine, message_of: Callable[[VerifierKey, SignatureLine], Tuple[bytes, bytes]]
) -> bool:
    if len(line.signature) != _TYPES[key.type].signature_bytes:
        return False
    message, signature = message_of(key, line)
    return _TYPES[key.type].verify(message=message, signature=signature, public_key=key.public_key)


def _typed_key(type: str, public_key: bytes) -> bytes:
    return bytes([_TYPES[type].byte]) + public_key
