"""Whom a reader trusts to sign checkpoints of logs: the saved description of a service's logs, or a C2SP tlog-policy."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, List, Optional, Tuple

from ..canonical import NotCanonical, json_string, parse
from .checkpoint import parse_checkpoint
from .note import ED25519, ED25519_COSIGNATURE, ML_DSA_44_COSIGNATURE, LogError, UnknownKeyType, VerifierKey, parse_note, parse_vkey
from .policy import LogPolicy, TrustedCheckpoint, open_by_policy, parse_policy, policy_of_keys


@dataclass(frozen=True)
class LogTrust:
    policy: LogPolicy
    #: A description lists what a log signs by: each type of key must have signed. Of a policy's log keys any one is enough.
    every_type: bool


def read_log_trust(given: Any) -> LogTrust:
    """From the answer of GET /.well-known/countersign-log, as text or parsed, or the text of a C2SP tlog-policy: any text that does not
    begin with ``{``.

    Raises LogError with the part that is wrong.
    """
    if isinstance(given, LogTrust):
        return given
    if not isinstance(given, (str, bytes)):
        return _described(given)
    if given[:1] in ("{", b"{"):
        try:
            return _described(parse(given))
        except NotCanonical as error:
            raise LogError(f"The log description is not JSON with one reading: {error}.") from None
    try:
        return LogTrust(parse_policy(given), every_type=False)
    except LogError as error:
        raise LogError(f"The log description does not begin with '{{' and is no policy of logs either: {error}.") from None


def _described(description: Any) -> LogTrust:
    logs = description.get("logs") if isinstance(description, dict) else None
    if not isinstance(logs, list):
        raise LogError("The log description has no list `logs`: save the answer of GET /.well-known/countersign-log.")
    keys = [key for number, log in enumerate(logs, 1) for key in _keys_of_log(log, f"Log {number}")]
    if not keys:
        raise LogError("The log description holds no key of a known type, so nothing can be verified by it.")
    return LogTrust(policy_of_keys(keys), every_type=True)


def _keys_of_log(log: Any, which: str) -> List[VerifierKey]:
    origin, vkeys = (log.get("origin"), log.get("vkeys")) if isinstance(log, dict) else (None, None)
    if not isinstance(origin, str) or not isinstance(vkeys, list):
        raise LogError(f"{which} of the log description has no `origin` or no list `vkeys`.")
    keys = []
    for vkey in vkeys:
        try:
            keys.append(_key_of_log(vkey, origin))
        except UnknownKeyType:
            # As keys of unknown types are left out of a key set: a later version may have more.
            continue
        except LogError as error:
            raise LogError(f"{which} of the log description has a wrong key: {error}.") from None
    return keys


def _key_of_log(vkey: Any, origin: str) -> VerifierKey:
    key = parse_vkey(vkey if isinstance(vkey, str) else "")
    if key.name != origin:
        raise LogError(f"the key '{key.name}' is of another name")
    if key.type == ED25519_COSIGNATURE:
        raise LogError("a key for cosignatures signs for no log")
    return key


#: ``<name>/log/<number>``: a log that was closed has a successor with the next number.
_ORIGIN = re.compile("(.+)/log/([1-9][0-9]{0,8})")


def numbered(origin: str) -> Optional[Tuple[str, int]]:
    """The name and the number of a log; None where its origin is not made of these."""
    match = _ORIGIN.fullmatch(origin)
    return None if match is None else (match[1], int(match[2]))


def is_successor(origin: str, of: str) -> bool:
    """Whether it is a later log of the same name."""
    later, earlier = numbered(origin), numbered(of)
    return later is not None and earlier is not None and later[0] == earlier[0] and later[1] > earlier[1]


def are_of_one_name(one: str, other: str) -> bool:
    """Whether they are the same log, or one is the successor of the other."""
    first, second = numbered(one), numbered(other)
    return first is not None and second is not None and first[0] == second[0]


class LogKeyNotGiven(LogError):
    """A checkpoint whose keys are not given: with them it may hold or fail. The message is a sentence without its full stop."""

    def __init__(self, origin: str, message: str) -> None:
        super().__init__(message)
        self.origin = origin


_ALGORITHMS = {ED25519: "Ed25519", ML_DSA_44_COSIGNATURE: "ML-DSA-44"}


def open_trusted(note: str, trust: Optional[LogTrust]) -> TrustedCheckpoint:
    """Checks who signed a checkpoint.

    Raises LogKeyNotGiven where that depends on keys that the reader did not give, and LogError that says what does not hold.
    """
    parsed = parse_note(note)
    origin = parse_checkpoint(parsed.text).origin
    named = json_string(origin)
    if trust is None:
        raise LogKeyNotGiven(origin, f"no description of the log {named} is given")
    keys = [log.key for log in trust.policy.logs if log.key.name == origin]
    given = {key.key_id for key in keys}
    signed_by = {line.key_id for line in parsed.lines if line.name == origin}
    not_given = LogKeyNotGiven(origin, f"no key of the log {named} that signed its checkpoint is given")
    if not signed_by & given and (signed_by - given or not keys):
        raise not_given
    opened = open_by_policy(note, trust.policy)
    types = {signer.key.type for signer in opened.signed_by}
    unsigned = next((key for key in keys if key.type not in types), None) if trust.every_type else None
    if unsigned is None:
        return opened
    if signed_by - given:
        raise not_given
    raise LogError(f"the checkpoint is not signed by the {_ALGORITHMS[unsigned.type]} key of its log")
