"""The formats of the evidence log: C2SP signed notes, checkpoints, cosignatures, proofs and policies."""

from .checkpoint import Checkpoint, OpenedCheckpoint, Signer, open_checkpoint, parse_checkpoint
from .note import LogError, Note, VerifierKey, format_vkey, parse_note, parse_vkey, verifier_key
from .policy import LogPolicy, TrustedCheckpoint, open_by_policy, parse_policy, policy_of_keys
from .proof import LogProof, ProvenEntry, parse_proof, verify_proof

__all__ = [
    "Checkpoint",
    "LogError",
    "LogPolicy",
    "LogProof",
    "Note",
    "OpenedCheckpoint",
    "ProvenEntry",
    "Signer",
    "TrustedCheckpoint",
    "VerifierKey",
    "format_vkey",
    "open_by_policy",
    "open_checkpoint",
    "parse_checkpoint",
    "parse_note",
    "parse_policy",
    "parse_proof",
    "parse_vkey",
    "policy_of_keys",
    "verifier_key",
    "verify_proof",
]
