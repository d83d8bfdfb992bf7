"""C2SP tlog-checkpoint: the head of a log's tree as a signed note."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import List, Optional, Sequence, Tuple, Union

from ..base64_text import from_base64
from ..canonical import SAFE_INTEGER_MAX
from .cosignature import cosigned_message, ed25519_cosigned_message, timestamped_signature
from .note import ED25519, ED25519_COSIGNATURE, LogError, Note, SignatureLine, VerifierKey, parse_note, verified_lines


@dataclass(frozen=True)
class Checkpoint:
    #: Which log it is of.
    origin: str
    #: The number of entries.
    size: int
    #: Root hash of the Merkle tree over the entries, 32 bytes.
    root: bytes


@dataclass(frozen=True)
class Signer:
    key: VerifierKey
    #: Seconds since 1970, as the signature states it; None for a type of signature without a time.
    time_seconds: Optional[int] = None


@dataclass(frozen=True)
class OpenedCheckpoint(Checkpoint):
    #: The log's keys that signed, one or more.
    signed_by: Tuple[Signer, ...]
    #: The trusted witnesses that cosigned.
    cosigned_by: Tuple[Signer, ...]


def parse_checkpoint(text: str) -> Checkpoint:
    """The first three lines of a note's text, its last newline included. Extension lines are left out: not every signature is over them,
    and no log of this project has any.

    Raises LogError that names the line which is wrong.
    """
    if not text.endswith("\n"):
        raise LogError("the checkpoint does not end with a newline")
    lines = text[:-1].split("\n")
    if len(lines) < 3 or "" in lines:
        raise LogError("the checkpoint has no three lines, or an empty one")
    root = from_base64(lines[2])
    if root is None or len(root) != 32:
        raise LogError("the root hash of the checkpoint is not 32 bytes of base64")
    return Checkpoint(lines[0], parse_integer(lines[1], "the tree size of the checkpoint"), root)


def parse_integer(text: str, what: str) -> int:
    """An integer in decimal without leading zeros. Raises LogError that names it as ``what``, also for one above 2^53 - 1, which not
    every implementation can hold exactly."""
    if re.fullmatch("0|[1-9][0-9]*", text) is None:
        raise LogError(f"{what} is not a decimal number without leading zeros")
    # By its length first: a text of thousands of digits is not made a number.
    if len(text) > 16 or int(text) > SAFE_INTEGER_MAX:
        raise LogError(f"{what} is above 2^53 - 1")
    return int(text)


def open_checkpoint(
    note: Union[str, bytes], *, logs: Sequence[VerifierKey], witnesses: Sequence[VerifierKey] = ()
) -> OpenedCheckpoint:
    """Reads a checkpoint and checks who signed it. Keys of the log are named like its origin, whatever keys of other logs are trusted
    beside them.

    Raises LogError where it is no checkpoint, where no trusted key of its log signed it, or where a signature of any trusted key does not
    hold. Lines of other keys are ignored.
    """
    parsed = parse_note(note)
    checkpoint = parse_checkpoint(parsed.text)
    signed_by = signers_of(parsed, checkpoint, [key for key in logs if key.name == checkpoint.origin])
    if not signed_by:
        raise LogError(f"the checkpoint is not signed by a trusted key of the log '{checkpoint.origin}'")
    cosigned_by = signers_of(parsed, checkpoint, witnesses)
    return OpenedCheckpoint(checkpoint.origin, checkpoint.size, checkpoint.root, tuple(signed_by), tuple(cosigned_by))


def signers_of(note: Note, checkpoint: Checkpoint, keys: Sequence[VerifierKey]) -> List[Signer]:
    """The trusted keys that signed a checkpoint, in the order of its lines. ``checkpoint`` is what the text of the note says.

    Raises LogError where the signature of one of the keys does not hold.
    """

    def message_of(key: VerifierKey, line: SignatureLine) -> Tuple[bytes, bytes]:
        if key.type == ED25519:
            return note.text.encode("utf-8"), line.signature
        time_seconds, signature = timestamped_signature(line.signature)
        if key.type == ED25519_COSIGNATURE:
            return ed25519_cosigned_message(time_seconds, note.text), signature
        origin, size, root = checkpoint.origin, checkpoint.size, checkpoint.root
        message = cosigned_message(
            cosigner=key.name, time_seconds=time_seconds, origin=origin, start=0, end=size, hash=root
        )
        return message, signature

    return [
        Signer(key) if key.type == ED25519 else Signer(key, timestamped_signature(line.signature)[0])
        for key, line in verified_lines(note, keys, message_of)
    ]
