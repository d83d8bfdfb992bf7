"""Records signed by batch, made anew. The standard library cannot sign, so the repository's own JavaScript libraries do."""

from __future__ import annotations

import base64
import copy
import hashlib
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any, Dict, List, Sequence, Tuple

from countersign import read_key_set
from countersign.canonical import canonicalize
from countersign.evidence import pre_auth_encoding
from countersign.key_set import PublicKey
from vectors import FOLDER, evidence_of

REPOSITORY = Path(__file__).resolve().parents[3]
CAN_SIGN = FOLDER.exists() and (REPOSITORY / "node_modules" / "@noble").exists() and shutil.which("node") is not None

ORIGIN = "countersign/batch/0d6a3a4e-7f5b-4c0e-9a51-2f4f8c1f6b7d"

_SIGNER = """
import { ed25519 } from '@noble/curves/ed25519.js'
import { ml_dsa65 } from '@noble/post-quantum/ml-dsa.js'
import { createInterface } from 'node:readline'

const seed = new Uint8Array(32).fill(7)
const pq = ml_dsa65.keygen(seed)
const keys = {
  'ed25519': { publicKey: ed25519.getPublicKey(seed), sign: (message) => ed25519.sign(message, seed) },
  'ml-dsa-65': { publicKey: pq.publicKey, sign: (message) => ml_dsa65.sign(message, pq.secretKey) },
}
for await (const line of createInterface({ input: process.stdin })) {
  const { algorithm, message } = JSON.parse(line)
  const { publicKey, sign } = keys[algorithm]
  const bytes = message === undefined ? publicKey : sign(Buffer.from(message, 'base64'))
  console.log(Buffer.from(bytes).toString('base64'))
}
"""


class Signer:
    """One key of each algorithm, by its algorithm's name."""

    def __init__(self) -> None:
        command = ["node", "--input-type=module", "-e", _SIGNER]
        self._process = subprocess.Popen(
            command, cwd=REPOSITORY, stdin=subprocess.PIPE, stdout=subprocess.PIPE, universal_newlines=True
        )

    def close(self) -> None:
        self._process.communicate()

    def _answer(self, question: Dict[str, str]) -> bytes:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps(question) + "\n")
        self._process.stdin.flush()
        return base64.b64decode(self._process.stdout.readline())

    def sign(self, algorithm: str, message: bytes) -> str:
        return text(self._answer({"algorithm": algorithm, "message": text(message)}))

    def keys(self) -> Dict[str, PublicKey]:
        ed25519, ml_dsa_65 = (
            base64.urlsafe_b64encode(self._answer({"algorithm": one})).decode("ascii").rstrip("=") for one in ("ed25519", "ml-dsa-65")
        )
        return read_key_set(
            {
                "keys": [
                    {"kid": "ed25519", "kty": "OKP", "crv": "Ed25519", "x": ed25519},
                    {"kid": "ml-dsa-65", "kty": "AKP", "alg": "ML-DSA-65", "pub": ml_dsa_65},
                ]
            }
        )

    def alone(self, artifact: str, value: Any, algorithm: str) -> Dict[str, Any]:
        message = pre_auth_encoding(artifact, canonicalize(value))
        return {"algorithm": algorithm, "keyId": algorithm, "value": self.sign(algorithm, message)}

    def by_batch(self, artifact: str, value: Any, algorithm: str, *, size: int = 3, index: int = 1) -> Dict[str, Any]:
        """As one of ``size`` artifacts, the others of which are made up."""
        leaves = [digest(b"\0", b"another artifact %d" % i) for i in range(size)]
        leaves[index] = digest(b"\0", pre_auth_encoding(artifact, canonicalize(value)))
        root, path = tree(leaves, index)
        head = f"{ORIGIN}\n{size}\n{text(root)}\n".encode("utf-8")
        batch = {"origin": ORIGIN, "size": size, "index": index, "path": [text(one) for one in path]}
        return {"algorithm": f"{algorithm}-batch", "keyId": algorithm, "value": self.sign(algorithm, head), "batch": batch}

    def record(self, required: Sequence[str] = (), *, size: int = 3, index: int = 1) -> Dict[str, Any]:
        """A whole record as the service answers it: its authorization and its own signatures by batch, and its receipt's ML-DSA-65."""
        place = {"size": size, "index": index}
        record: Dict[str, Any] = copy.deepcopy(_vector())
        payload = record["authorization"]["payload"]
        authorization = self.by_batch("execution-authorization", payload, "ed25519", **place)
        authorization["signature"] = authorization.pop("value")
        record["authorization"] = {"payload": payload, **authorization}
        if required:
            record["requiredAlgorithms"] = list(required)
        resign(record, [self.by_batch("trust-record", signed_part(record), one, **place) for one in required or ["ed25519"]])
        (verification,), (receipt,) = record["verifications"], record["receipts"]
        verification["trustRecordHash"] = receipt["trustRecordHash"] = record["trustRecordHash"]
        first = (required or ["ed25519"])[0]
        del receipt["receiptHash"], receipt["signature"]
        receipt.update({"algorithm": first, "keyId": first}, **({"requiredAlgorithms": list(required)} if required else {}))
        receipt["receiptHash"] = hashlib.sha256(canonicalize(receipt)).hexdigest()
        signed = dict(receipt)
        signatures = [self.alone("receipt", signed, first)]
        signatures += [self.by_batch("receipt", signed, one, **place) for one in required[1:] if one == "ml-dsa-65"]
        signatures += [self.alone("receipt", signed, one) for one in required[1:] if one != "ml-dsa-65"]
        receipt["signature"] = signatures[0]["value"]
        if required:
            receipt["signatures"] = signatures
        return record


def _vector() -> Dict[str, Any]:
    record: Dict[str, Any] = evidence_of("trust-records.json", "trust-record/valid-ed25519")
    return record


def signed_part(record: Dict[str, Any]) -> Dict[str, Any]:
    outside = {"trustRecordHash", "signature", "signatures", "verifications", "receipts"}
    return {name: value for name, value in record.items() if name not in outside}


def resign(record: Dict[str, Any], signatures: List[Dict[str, Any]]) -> None:
    record["trustRecordHash"] = hashlib.sha256(canonicalize(signed_part(record))).hexdigest()
    record["signature"] = {**signatures[0], "signedAt": record["createdAt"]}
    if "requiredAlgorithms" in record:
        record["signatures"] = signatures


def tree(level: List[bytes], index: int) -> Tuple[bytes, List[bytes]]:
    """The root over the hashes of one level, and the path of one of them."""
    path: List[bytes] = []
    while len(level) > 1:
        path += level[index ^ 1 : (index ^ 1) + 1]
        index >>= 1
        level = [b"".join(level[i : i + 2]) for i in range(0, len(level), 2)]
        level = [digest(b"\1", pair) if len(pair) == 64 else pair for pair in level]
    return level[0], path


def digest(*parts: bytes) -> bytes:
    return hashlib.sha256(b"".join(parts)).digest()


def text(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")
