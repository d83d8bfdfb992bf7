"""C2SP tlog-policy: the file in which somebody says which logs and witnesses they trust, and how many of the witnesses are enough."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Callable, Dict, List, Optional, Sequence, Set, Tuple, Union

from .checkpoint import OpenedCheckpoint, Signer, open_checkpoint, parse_integer
from .note import ED25519, ED25519_COSIGNATURE, ML_DSA_44_COSIGNATURE, LogError, VerifierKey, parse_vkey


@dataclass(frozen=True)
class PolicyLog:
    #: Its name is the origin of the log.
    key: VerifierKey
    url: Optional[str] = None


@dataclass(frozen=True, eq=False)
class PolicyWitness:
    #: Within the policy only; the key has a name of its own.
    name: str
    key: VerifierKey
    url: Optional[str] = None


@dataclass(frozen=True, eq=False)
class PolicyGroup:
    name: str
    #: How many of the members are enough.
    threshold: int
    members: Tuple[Union[PolicyWitness, PolicyGroup], ...]


_Member = Union[PolicyWitness, PolicyGroup]


@dataclass(frozen=True)
class LogPolicy:
    #: Any one of them is enough.
    logs: Tuple[PolicyLog, ...]
    witnesses: Tuple[PolicyWitness, ...] = ()
    #: Each after the groups that are members of it.
    groups: Tuple[PolicyGroup, ...] = ()
    #: None: no witness is asked for.
    quorum: Optional[_Member] = None


@dataclass(frozen=True)
class WitnessSigner(Signer):
    """A witness of the policy that cosigned."""

    #: As the policy names it.
    name: str = ""


@dataclass(frozen=True)
class TrustedCheckpoint(OpenedCheckpoint):
    cosigned_by: Tuple[WitnessSigner, ...]


#: The types that may sign for a log, and for a witness: a witness states a time.
LOG_TYPES = (ED25519, ML_DSA_44_COSIGNATURE)
_WITNESS_TYPES = (ED25519_COSIGNATURE, ML_DSA_44_COSIGNATURE)

#: Limit for logs, and half the limit for witnesses and groups together; the specification asks for 32.
_MAX_OF_A_KIND = 256


def policy_of_keys(keys: Sequence[VerifierKey]) -> LogPolicy:
    """A policy that trusts these keys of logs and asks for no witness."""
    return LogPolicy(tuple(PolicyLog(key) for key in keys))


def parse_policy(file: Union[str, bytes]) -> LogPolicy:
    """Raises LogError that names the line, from 1, and what is wrong with it."""
    reader = _Reader()
    content = file.encode("utf-8", "replace") if isinstance(file, str) else file
    # A character for each octet: names are compared as octets, and need not be UTF-8.
    for number, line in enumerate(content.decode("latin-1").split("\n"), 1):
        try:
            reader.read(line)
        except LogError as error:
            raise LogError(f"line {number} of the policy: {error}") from None
    if not reader.quorum:
        raise LogError("the policy has no quorum line")
    groups = tuple(one for one in reader.defined.values() if isinstance(one, PolicyGroup))
    return LogPolicy(tuple(reader.logs), tuple(reader.witnesses), groups, reader.quorum[0])


class _Reader:
    """The state from the lines that were read so far. Items of a line are octets."""

    def __init__(self) -> None:
        self.logs: List[PolicyLog] = []
        self.witnesses: List[PolicyWitness] = []
        self.defined: Dict[str, _Member] = {}
        self.in_groups: Set[str] = set()
        #: One, once its line is read.
        self.quorum: List[Optional[_Member]] = []
        self._keywords: Dict[str, Callable[[List[str]], None]] = {
            "log": self._log,
            "witness": self._witness,
            "group": self._group,
            "quorum": self._quorum,
        }

    def read(self, line: str) -> None:
        # DEL is no octet of a policy either.
        if re.search("[\0-\x08\x0a-\x1f\x7f]", line):
            raise LogError("it holds a control character")
        keyword, *items = [item for item in re.split("[ \t]+", line) if item != ""] or ["#"]
        if keyword.startswith("#"):
            return
        if keyword not in self._keywords:
            raise LogError(f"'{_utf8(keyword)}' is not one of its keywords")
        self._keywords[keyword](items)

    def _log(self, items: List[str]) -> None:
        if not 1 <= len(items) <= 2:
            raise LogError("a log has a key and at most a URL")
        if len(self.logs) >= _MAX_OF_A_KIND:
            raise LogError("there are too many logs")
        self.logs.append(PolicyLog(_key_of(items[0], LOG_TYPES, self.logs), _url_of(items[1:])))

    def _witness(self, items: List[str]) -> None:
        if not 2 <= len(items) <= 3:
            raise LogError("a witness has a name, a key and at most a URL")
        key = _key_of(items[1], _WITNESS_TYPES, self.witnesses)
        witness = PolicyWitness(_utf8(items[0]), key, _url_of(items[2:]))
        self._define(items[0], witness)
        self.witnesses.append(witness)

    def _group(self, items: List[str]) -> None:
        if len(items) < 3:
            raise LogError("a group has a name, all, any or a number, and members")
        name, count, *names = items
        members = []
        for member in names:
            members.append(self._look_up(member))
            if member in self.in_groups:
                raise LogError(f"'{_utf8(member)}' is a member of a group already")
            self.in_groups.add(member)
        self._define(name, PolicyGroup(_utf8(name), _threshold_of(_utf8(count), len(members)), tuple(members)))

    def _quorum(self, items: List[str]) -> None:
        if len(items) != 1:
            raise LogError("a quorum is one name")
        if self.quorum:
            raise LogError("there is a quorum on a line before")
        self.quorum.append(None if items[0] == "none" else self._look_up(items[0]))

    def _look_up(self, name: str) -> _Member:
        if name not in self.defined:
            raise LogError(f"'{_utf8(name)}' is not defined on a line before")
        return self.defined[name]

    def _define(self, name: str, made: _Member) -> None:
        if name == "none":
            raise LogError("the name 'none' is reserved")
        if name in self.defined:
            raise LogError(f"'{_utf8(name)}' is defined twice")
        if len(self.defined) >= 2 * _MAX_OF_A_KIND:
            raise LogError("there are too many witnesses and groups")
        self.defined[name] = made


def _key_of(vkey: str, types: Sequence[str], others: Sequence[Union[PolicyLog, PolicyWitness]]) -> VerifierKey:
    key = parse_vkey(_utf8(vkey))
    if key.type not in types:
        raise LogError(f"a key of type {key.type} cannot sign here; one of type {' or '.join(types)} can")
    same = next((other for other in others if other.key.public_key == key.public_key), None)
    if same is not None:
        raise LogError(f"the public key is that of '{same.key.name}' already")
    return key


def _threshold_of(count: str, members: int) -> int:
    if count == "all":
        return members
    threshold = 1 if count == "any" else parse_integer(count, "the number of members")
    if not 1 <= threshold <= members:
        raise LogError(f"the number of members must be from 1 to {members}, and is {threshold}")
    return threshold


def _url_of(items: Sequence[str]) -> Optional[str]:
    return _utf8(items[0]) if items else None


def _utf8(item: str) -> str:
    return item.encode("latin-1").decode("utf-8", "replace")


def open_by_policy(note: Union[str, bytes], policy: LogPolicy) -> TrustedCheckpoint:
    """Reads a checkpoint and checks it by a policy: one of its logs signed it, and a quorum of its witnesses.

    Raises LogError as ``open_checkpoint`` does, and where too few witnesses cosigned.
    """
    keys = {witness.key: witness.name for witness in policy.witnesses}
    opened = open_checkpoint(note, logs=[log.key for log in policy.logs], witnesses=list(keys))
    cosigned_by = tuple(WitnessSigner(one.key, one.time_seconds, keys[one.key]) for one in opened.cosigned_by)
    if policy.quorum is not None and not meets_quorum(policy, cosigned_by):
        names = ", ".join(f"'{one.name}'" for one in cosigned_by) or "no witness"
        raise LogError(f"the quorum '{policy.quorum.name}' is not met: the checkpoint is cosigned by {names}")
    return TrustedCheckpoint(opened.origin, opened.size, opened.root, opened.signed_by, cosigned_by)


def meets_quorum(policy: LogPolicy, cosigned_by: Sequence[Signer]) -> bool:
    """Whether these cosignatures are enough."""
    keys = {signer.key for signer in cosigned_by}
    met: Set[_Member] = {witness for witness in policy.witnesses if witness.key in keys}
    for group in policy.groups:
        if sum(member in met for member in group.members) >= group.threshold:
            met.add(group)
    return policy.quorum is None or policy.quorum in met
