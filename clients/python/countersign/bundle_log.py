"""The proofs of a bundle: that each part of it is an entry of the log, all under one checkpoint, in the order in which authority is given."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Callable, Dict, List, Optional, Tuple, Union

from .canonical import json_string
from .evidence import Check, checked
from .instant import Unreadable
from .log.checkpoint import Checkpoint, parse_checkpoint
from .log.entry import is_entry_of, parse_entry
from .log.note import LogError, parse_note
from .log.policy import TrustedCheckpoint
from .log.proof import LogProof, parse_proof
from .log.trust import LogKeyNotGiven, LogTrust, are_of_one_name, is_successor, open_trusted
from .merkle import leaf_hash, root_of_inclusion


@dataclass(frozen=True, eq=False)
class LoggedPart:
    """A part of a bundle that the log holds, by the kind and the id of GET /log/proofs/{kind}/{id}."""

    #: ``authorization``, ``receipt``, ``approval-request``, ``approval``, ``change`` or ``confirmation``.
    kind: str
    id: str
    entry_kind: str
    entry_hash: str

    @property
    def title(self) -> str:
        if self.kind in ("authorization", "receipt"):
            return f"the {self.kind}"
        titles = {"change": "governance change", "confirmation": "provider confirmation", "approval-request": "approval request"}
        title = titles.get(self.kind, self.kind)
        return f"the {title} {json_string(self.id)}"


@dataclass(frozen=True)
class DueProofs:
    """The facts that the proofs of a bundle have to show."""

    parts: List[LoggedPart]
    #: The first of each pair was there before the second.
    order: List[Tuple[LoggedPart, LoggedPart]]
    #: The log that a part was promised to.
    promises: Dict[LoggedPart, str]


@dataclass(frozen=True)
class _Place:
    """Where the log has a part."""

    origin: str
    index: int
    #: It was logged late: its place says nothing of when it was made.
    late: bool


@dataclass(frozen=True)
class _CarriedProof:
    """A proof as the bundle carries it, or the sentence that says why it cannot be read."""

    kind: Any
    id: Any
    read: Union[Tuple[LogProof, Checkpoint], str]


def check_proofs(
    carried: Any, due: Callable[[], DueProofs], trust: Optional[LogTrust]
) -> Tuple[List[Check], List[str]]:
    """The checks, and what a reader should know besides. ``carried`` is of any shape; ``due`` raises Unreadable where the rest of the
    bundle cannot be read."""
    places: Dict[LoggedPart, _Place] = {}
    notes: List[str] = []
    proofs = _read_proofs(carried) if isinstance(carried, list) else []

    def is_trusted() -> None:
        for note in _checkpoints_of(proofs):
            notes.append(_note_on(open_trusted(note, trust)))

    def are_included() -> bool:
        if not isinstance(carried, list):
            raise Unreadable("proofs is not a list")
        asked = due()
        for part in asked.parts:
            places[part] = _place_of(part, proofs)
        for part, log in asked.promises.items():
            _require_promised(part, log, places[part])
        if len(proofs) > len(asked.parts):
            raise Unreadable("a proof is of nothing that it holds")
        return True

    def are_in_order() -> bool:
        asked = due()
        if len(places) < len(asked.parts):
            raise Unreadable("not every part is shown to be in the log")
        for first, second in asked.order:
            _require_order(first, second, places)
        return True

    checkpoint = _checked_open("log checkpoint", "The checkpoint of its proofs is not one of its log", is_trusted)
    dependent = (
        checked("log proofs", "Its proofs do not show that it is in the log", are_included),
        checked("log order", "The log does not show the order of its parts", are_in_order),
    )
    for part, place in places.items():
        if place.late:
            notes.append(f"The log has {part.title} as a late entry: its place does not show when it was made.")
    return [checkpoint, *(_open_as(checkpoint, one) for one in dependent)], notes


def _checked_open(name: str, problem: str, holds: Callable[[], None]) -> Check:
    """As ``checked``, of what depends on keys of a log that may not be given."""
    not_given: List[LogKeyNotGiven] = []

    def holds_or_is_open() -> bool:
        try:
            holds()
        except LogKeyNotGiven as error:
            not_given.append(error)
        return True

    made = checked(name, problem, holds_or_is_open)
    if not not_given:
        return made
    return Check(name, f"It cannot be checked: {not_given[0]}.", missing_log=not_given[0].origin)


def _open_as(checkpoint: Check, made: Check) -> Check:
    """Returns a check as open where its checkpoint cannot be checked. A check that fails whatever the checkpoint is stays failed."""
    if made.problem is not None or checkpoint.missing_log is None:
        return made
    return Check(made.name, checkpoint.problem, missing_log=checkpoint.missing_log)


def _read_proofs(carried: List[Any]) -> List[_CarriedProof]:
    # Read once for all proofs that share it, which they should.
    checkpoints: Dict[str, Checkpoint] = {}
    found = []
    for one in carried:
        value = one if isinstance(one, dict) else {}
        read: Union[Tuple[LogProof, Checkpoint], str]
        try:
            file = value.get("proof")
            if not isinstance(file, str):
                raise LogError("proof is not a string")
            proof = parse_proof(file)
            if proof.checkpoint not in checkpoints:
                checkpoints[proof.checkpoint] = parse_checkpoint(parse_note(proof.checkpoint).text)
            read = (proof, checkpoints[proof.checkpoint])
        except LogError as error:
            read = str(error)
        found.append(_CarriedProof(value.get("kind"), value.get("id"), read))
    return found


def _checkpoints_of(proofs: List[_CarriedProof]) -> List[str]:
    """One checkpoint for each log. There are several logs where the first had to be closed and its successor, of the same name, holds the
    rest.

    Raises LogError where there are two of one log, logs of different names, or none.
    """
    notes: Dict[str, str] = {}
    for one in proofs:
        if isinstance(one.read, str):
            continue
        proof, checkpoint = one.read
        if notes.setdefault(checkpoint.origin, proof.checkpoint) != proof.checkpoint:
            raise LogError(f"the proofs are under different checkpoints of the log {json_string(checkpoint.origin)}")
    if not notes:
        raise LogError("there is no proof that can be read")
    first, *others = notes
    for other in others:
        if not are_of_one_name(first, other):
            raise LogError(f"the logs {json_string(first)} and {json_string(other)} are not of one name")
    return list(notes.values())


def _place_of(part: LoggedPart, proofs: List[_CarriedProof]) -> _Place:
    """Raises Unreadable where there is not exactly one proof of it, or that does not lead from its entry to the root of its checkpoint."""
    own = [one for one in proofs if (one.kind, one.id) == (part.kind, part.id)]
    if not own:
        raise LogError(f"there is no proof of {part.title}")
    if len(own) > 1:
        raise LogError(f"there are two proofs of {part.title}")
    read = own[0].read
    if isinstance(read, str):
        raise LogError(f"the proof of {part.title} cannot be read: {read}")
    proof, checkpoint = read
    if proof.extra is None:
        raise LogError(f"the proof of {part.title} holds no entry")
    logged = parse_entry(proof.extra.decode("utf-8", "replace"))
    late = is_entry_of(logged, kind=part.entry_kind, hash=part.entry_hash)
    if late is None:
        raise LogError(f"the proof of {part.title} is of another artifact")
    found = root_of_inclusion(leaf_hash(proof.extra), index=proof.index, size=checkpoint.size, path=proof.path)
    if found != checkpoint.root:
        raise LogError(f"the proof of {part.title} does not lead to the root of its checkpoint")
    return _Place(checkpoint.origin, proof.index, late)


def _require_promised(part: LoggedPart, log: str, place: _Place) -> None:
    """Raises LogError where it is in another log than was promised; a later one of the same name holds what the first one lost."""
    if place.origin != log and not is_successor(place.origin, log):
        raise LogError(
            f"{part.title} is promised to the log {json_string(log)} and proven to be in {json_string(place.origin)}"
        )


def _require_order(first: LoggedPart, second: LoggedPart, places: Dict[LoggedPart, _Place]) -> None:
    before, after = places[first], places[second]
    if before.late or after.late:
        return
    same_log = before.origin == after.origin
    if not (before.index < after.index if same_log else is_successor(after.origin, before.origin)):
        raise LogError(f"{second.title} does not stand behind {first.title}")


#: 31 December 9999: what is later has no year of four digits.
_LAST_SECOND = 253_402_300_799


def _note_on(opened: TrustedCheckpoint) -> str:
    seconds = next((one.time_seconds for one in opened.signed_by if one.time_seconds), None)
    at = ""
    if seconds is not None and seconds <= _LAST_SECOND:
        at = f" of {(datetime(1970, 1, 1) + timedelta(seconds=seconds)).isoformat()}Z"
    witnesses = ", ".join(json_string(one.name) for one in opened.cosigned_by)
    cosigned = f", cosigned by the witnesses {witnesses}" if witnesses else ""
    return f"The log {json_string(opened.origin)} had {opened.size} entries at its checkpoint{at}{cosigned}."
