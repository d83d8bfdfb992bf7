"""The Python client against the service that COUNTERSIGN_URL names: run by python.test.ts, once for each RECEIPT_ALGORITHMS."""

from __future__ import annotations

import base64
import contextlib
import copy
import hashlib
import io
import json
import os
import tempfile
import time
import unittest
import uuid
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Dict, List

from countersign import AnswerError, Client, IdUsedForAnotherIntentError, LogContradictionError
from countersign import check_audit_event, check_receipt
from countersign import check_refusal_record, check_trust_record, deterministic_id, read_key_set, verify_evidence
from countersign.__main__ import main
from countersign.canonical import canonicalize
from countersign.log import LogError, open_checkpoint, parse_proof, verify_proof
from countersign.log.entry import parse_entry
from countersign.log.trust import read_log_trust
from countersign.merkle import require_consistent
from logs import NoteSigner

URL = os.environ["COUNTERSIGN_URL"]
ALGORITHMS = os.environ["RECEIPT_ALGORITHMS"].split(",")
once = unittest.skipUnless(len(ALGORITHMS) > 1, "does not depend on the algorithm: run with both")
CLIENT = Client(URL, os.environ["COUNTERSIGN_API_KEY"])
AUDITOR = Client(URL, os.environ["COUNTERSIGN_AUDITOR_KEY"])

# Known difficulties of canonical JSON.
PARAMETERS = {
    "amount": 42,
    "\ufb01 after \U0001f600": "é \U0001f600 / \u2028 \u007f \b\f\n\r\t\u0001",
    "numbers": [0.1, 1e-7, 1.5e-10, 4.50, 1e-21, 1.0, -1, 9007199254740991],
    "others": [True, None, [], {}],
}

REQUEST: Any = {
    "action": "sandbox:echo",
    "target": "built",
    "parameters": {"amount": 42},
    "policy": {"name": "sandbox-echo", "version": "1.0.0"},
    "signals": {"approved": True, "amount": 42},
}


def a_transaction(name: str, amount: int = 42) -> Any:
    business_transaction_id = deterministic_id(uuid.uuid4(), name)
    authority_id, authorization_id = str(uuid.uuid4()), str(uuid.uuid4())
    now = datetime.now(timezone.utc).isoformat()
    return {
        "businessTransactionId": business_transaction_id,
        "metadata": {"businessTransactionId": business_transaction_id},
        "authority": {
            "authorityId": authority_id,
            "authorityType": "SERVICE",
            "principalId": "tester",
            "issuedAt": now,
        },
        "authorization": {"authorizationId": authorization_id, "authorityId": authority_id, "issuedAt": now},
        "intent": {
            "intentId": str(uuid.uuid4()),
            "authorizationId": authorization_id,
            "action": "sandbox:echo",
            "target": "test",
            "parameters": {**PARAMETERS, "amount": amount},
            "createdAt": now,
        },
        "policy": {"name": "sandbox-echo", "version": "1.0.0"},
        "signals": {"approved": True, "amount": amount},
    }


def failing(checks: List[Any]) -> List[str]:
    assert len(checks) > 0
    return [check.name for check in checks if check.problem is not None]


class Service(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls) -> None:
        cls.transaction = a_transaction("invoice-4711")
        cls.id = cls.transaction["businessTransactionId"]
        cls.record: Dict[str, Any] = CLIENT.execute(cls.transaction)  # type: ignore[assignment]
        cls.keys = read_key_set(CLIENT.key_set())
        cls.refused = a_transaction("too large", amount=2000)
        with contextlib.suppress(AnswerError):
            CLIENT.execute(cls.refused)

    def assert_error(self, status: int, code: Any, call: Any) -> None:
        with self.assertRaises(AnswerError) as raised:
            call()
        self.assertEqual((raised.exception.status, raised.exception.code), (status, code or f"HTTP_{status}"))
        uuid.UUID(raised.exception.request_id)

    def test_a_record_and_its_receipt_verify_offline(self) -> None:
        self.assertEqual(self.record["businessTransactionId"], self.id)
        self.assertEqual(failing(check_trust_record(self.record, self.keys)), [])
        (receipt,) = self.record["receipts"]
        self.assertEqual(receipt.get("requiredAlgorithms", [receipt["algorithm"]]), ALGORITHMS)
        self.assertEqual(failing(check_receipt(receipt, self.keys)), [])

    @once
    def test_events_are_followed_and_an_end_is_waited_for(self) -> None:
        after = CLIENT.event_page(after="now")["next"]
        ended = CLIENT.execute(a_transaction("followed"))
        events = CLIENT.events(after=after, types=["execution.completed"])
        # Executions of other tests may be logged only now.
        event = next(one for one in events if one["businessTransactionId"] == ended["businessTransactionId"])
        self.assertEqual(event["trustRecordHash"], ended["trustRecordHash"])
        self.assertEqual(CLIENT.event_page(after=after, types=["execution.failed"])["events"], [])
        self.assertEqual(CLIENT.wait_for_closed(ended["businessTransactionId"])["state"], "FINALIZED")
        self.assert_error(400, None, lambda: CLIENT.event_page(after="x"))

    @once
    def test_a_request_becomes_a_whole_transaction_on_the_authority_of_the_caller(self) -> None:
        record: Any = CLIENT.execute(REQUEST)
        self.assertEqual(record["executions"][0]["status"], "COMPLETED")
        self.assertEqual(record["transaction"]["authority"]["principalId"], "tester")
        self.assertEqual(record["transaction"]["intent"]["parameters"], {"amount": 42})
        self.assertEqual(failing(check_trust_record(record, self.keys)), [])
        again: Any = CLIENT.submit_transaction(REQUEST)
        self.assertNotEqual(again["businessTransactionId"], record["businessTransactionId"])
        evaluated = CLIENT.evaluate(CLIENT.build(REQUEST))
        self.assertEqual((evaluated["valid"], evaluated["wouldAnswer"]), (True, {"status": 200}))

    @once
    def test_a_request_with_a_key_is_executed_once(self) -> None:
        request: Any = {**REQUEST, "key": "invoice-1"}
        first: Any = CLIENT.execute_or_read(request)
        again: Any = Client(URL, os.environ["COUNTERSIGN_API_KEY"]).execute_or_read(request)
        self.assertEqual(again["trustRecordHash"], first["trustRecordHash"])
        self.assert_error(409, None, lambda: CLIENT.execute(request))
        with self.assertRaises(IdUsedForAnotherIntentError):
            CLIENT.execute_or_read({**request, "target": "another"})

    @once
    def test_a_key_has_the_id_that_every_client_derives(self) -> None:
        # The TypeScript client is held to the same one (typescript.test.ts).
        request: Any = {**REQUEST, "key": "invoice-4711"}
        self.assertEqual(CLIENT.build(request)["businessTransactionId"], "93485c56-2062-523b-bd03-cb22fdd698dd")
        self.assertNotEqual(AUDITOR.build(request)["businessTransactionId"], "93485c56-2062-523b-bd03-cb22fdd698dd")

    @once
    def test_a_duplicate_is_a_409_and_is_read(self) -> None:
        self.assert_error(409, None, lambda: CLIENT.execute(self.transaction))
        read: Any = CLIENT.execute_or_read(self.transaction)
        self.assertEqual(read["trustRecordHash"], self.record["trustRecordHash"])

    def test_what_was_refused_has_no_record_and_a_refusal_that_verifies(self) -> None:
        refusal = CLIENT.refusal(self.refused["businessTransactionId"])
        with self.assertRaises(AnswerError) as raised:
            CLIENT.execute_or_read(self.refused)
        self.assertEqual(raised.exception.message, f"Execution rejected: {refusal['decision']['reason']}")
        self.assertEqual(failing(check_refusal_record(refusal, self.keys)), [])
        self.assertTrue(CLIENT.verify_refusal(refusal)["valid"])
        changed: Any = {**refusal, "submittedBy": "somebody else"}
        self.assertEqual(failing(check_refusal_record(changed, self.keys)), ["refusal hash", "refusal signature"])
        self.assertFalse(CLIENT.verify_refusal(changed)["valid"])

    def test_executions_are_found_by_what_they_did(self) -> None:
        until = time.monotonic() + 60
        found: Any = {"executions": []}
        while not found["executions"] and time.monotonic() < until:
            found = CLIENT.executions(status="refused", q=self.refused["businessTransactionId"])
        refused = self.refused["businessTransactionId"]
        self.assertEqual([entry["businessTransactionId"] for entry in found["executions"]], [refused])
        self.assertIn(refused, [one["businessTransactionId"] for one in CLIENT.refusals(page_size=100)])
        self.assertEqual(CLIENT.search(refused)["executions"][0]["status"], "refused")
        self.assertEqual(CLIENT.statistics(by="status", status="refused")["buckets"][0]["groups"][0]["key"], "refused")
        self.assertEqual(CLIENT.approval_statistics()["requests"]["opened"], 0)
        self.assertEqual(CLIENT.approval_requests(q="nothing"), [])

    def test_every_signed_member_is_under_a_check(self) -> None:
        # Outside the signature: signedAt is informative, and a verification is the service's word (decisions §4).
        outside = ("signature.signedAt", "verifications.0.message", "verifications.0.verifiedAt")
        leaves = list(leaf_paths(self.record))
        self.assertGreater(len(leaves), 80)
        for path in leaves:
            with self.subTest(path=path):
                checks = check_trust_record(with_change(self.record, path), self.keys)
                self.assertEqual(failing(checks) == [], ".".join(map(str, path)) in outside)

    @unittest.skipUnless(len(ALGORITHMS) > 1, "one algorithm")
    def test_no_signature_of_a_hybrid_can_be_stripped(self) -> None:
        one = {**self.record, "signatures": self.record["signatures"][:1]}
        self.assertEqual(failing(check_trust_record(one, self.keys)), ["record signature"])
        none = {name: value for name, value in self.record.items() if name not in ("signatures", "requiredAlgorithms")}
        self.assertEqual(failing(check_trust_record(none, self.keys)), ["canonical hash", "record signature"])
        (receipt,) = self.record["receipts"]
        other = {**receipt, "signatures": receipt["signatures"][:1] * 2}
        self.assertEqual(failing(check_receipt(other, self.keys)), ["receipt signature"])

    def test_keys_that_are_not_published_verify_nothing(self) -> None:
        checks = check_trust_record(self.record, {})
        self.assertEqual(failing(checks), ["record signature", "authorization signature", "receipts"])

    @once
    def test_artifacts_are_proven_to_be_in_the_log(self) -> None:
        policy = read_log_trust(CLIENT.log_description()).policy
        hashes = {
            "authorization": hashlib.sha256(canonicalize(self.record["authorization"]["payload"])).hexdigest(),
            "receipt": self.record["receipts"][0]["receiptHash"],
        }
        index = {}
        for kind, due in hashes.items():
            proof = CLIENT.log_proof(kind, self.id)
            entry = parse_proof(proof).extra
            assert entry is not None
            logged = parse_entry(entry.decode("ascii"))
            self.assertEqual((logged.kind, logged.hash), (kind, due))
            proven = verify_proof(entry, proof, policy)
            # By Ed25519 and by ML-DSA-44.
            self.assertEqual(len(proven.signed_by), 2)
            index[kind] = proven.index
        self.assertLess(index["authorization"], index["receipt"])
        self.assert_error(404, None, lambda: CLIENT.log_proof("receipt", str(uuid.uuid4())))

    @once
    def test_a_bundle_is_verified_offline(self) -> None:
        bundle, log = CLIENT.bundle(self.id), CLIENT.log_description()
        report = verify_evidence(bundle, CLIENT.key_set(), log=log)
        self.assertEqual((report.verdict, report.subject), ("valid", self.record["trustRecordId"]))
        self.assertEqual(len(report.checks), 15)
        with tempfile.TemporaryDirectory() as folder:
            files = [write(folder, name, value) for name, value in (("keys.json", CLIENT.key_set()), ("log.json", log))]
            saved = Path(folder) / "bundle.json"
            saved.write_text(bundle, encoding="utf-8")
            status, output = run("verify", str(saved), "--keys", files[0], "--log", files[1])
            self.assertEqual(status, 0, output)
        changed = {**json.loads(bundle), "policy": json.loads(bundle)["policy"].replace("1000", "9000", 1)}
        report = verify_evidence(json.dumps(changed), CLIENT.key_set(), log=log)
        self.assertEqual(failing(list(report.checks)), ["policy document"])
        self.assert_error(404, None, lambda: CLIENT.bundle(str(uuid.uuid4())))

    @once
    def test_a_later_log_begins_with_an_earlier_one(self) -> None:
        keys = [one.key for one in read_log_trust(CLIENT.log_description()).policy.logs]
        CLIENT.log_proof("receipt", self.id)
        before = open_checkpoint(CLIENT.log_checkpoint(), logs=keys)
        self.assertEqual(CLIENT.log_consistency(before.size, before.size)["hashes"], [])
        record: Any = CLIENT.execute(REQUEST)
        CLIENT.log_proof("receipt", record["businessTransactionId"])
        after = open_checkpoint(CLIENT.log_checkpoint(), logs=keys)
        self.assertGreater(after.size, before.size)
        answer = CLIENT.log_consistency(before.size, after.size)
        require_consistent(
            end=before.size,
            size=after.size,
            part_root=before.root,
            root=after.root,
            path=[base64.b64decode(one) for one in answer["hashes"]],
        )

    @once
    def test_a_client_is_a_witness_of_the_log(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "log.json"
            options: Any = {"log_checkpoint_file": file, "log_check_interval": 0}
            # On first use, from what the first client remembered, and by a description that was saved.
            sizes = []
            CLIENT.log_proof("receipt", self.id)
            for log in (None, None, CLIENT.log_description()):
                witness = Client(URL, os.environ["COUNTERSIGN_API_KEY"], log=log, **options)
                record: Any = witness.execute(REQUEST)
                self.assertEqual(failing(check_trust_record(record, self.keys)), [])
                witness.log_proof("receipt", record["businessTransactionId"])
                witness.version()
                remembered = json.loads(file.read_text("utf-8"))
                sizes.append(int(remembered["checkpoint"].splitlines()[1]))
                self.assertEqual(len(remembered["vkeys"]), 2)
            self.assertEqual(sorted(set(sizes)), sizes)
            # A locally edited checkpoint is no evidence against the service, and stops the call.
            origin, size, root, *rest = remembered["checkpoint"].splitlines()
            edited = "\n".join([origin, str(int(size) - 1), root, *rest]) + "\n"
            file.write_text(json.dumps({**remembered, "checkpoint": edited}), "utf-8")
            refused = a_transaction("never sent")
            with self.assertRaisesRegex(LogError, "log.json does not hold the checkpoint of a log"):
                Client(URL, os.environ["COUNTERSIGN_API_KEY"], **options).execute(refused)
            # A signed history in which an entry was another one: the service cannot prove to have grown from it.
            signer = NoteSigner(origin)
            signed = f"{origin}\n{int(size) - 1}\n{base64.b64encode(bytes(32)).decode('ascii')}\n"
            forged = f"{signed}\n{signer.line(signed)}"
            file.write_text(json.dumps({"vkeys": [signer.vkey], "checkpoint": forged}), "utf-8")
            with self.assertRaises(LogContradictionError) as raised:
                Client(URL, os.environ["COUNTERSIGN_API_KEY"], log=CLIENT.log_description(), **options).execute(refused)
            held = json.loads(Path(str(raised.exception.file)).read_text("utf-8"))
            self.assertEqual((held["seen"], held["consistency"]["from"]), (forged, int(size) - 1))
            open_checkpoint(held["received"], logs=[one.key for one in read_log_trust(CLIENT.log_description()).policy.logs])
            self.assert_error(404, None, lambda: CLIENT.transaction(refused["businessTransactionId"]))

    @once
    def test_reads(self) -> None:
        self.assertEqual(CLIENT.trust_record(self.id)["trustRecordHash"], self.record["trustRecordHash"])
        self.assertEqual(CLIENT.transaction(self.id), self.record["transaction"])
        self.assertIn(self.record["transaction"], CLIENT.transactions(page=1, page_size=100))
        self.assertEqual(CLIENT.replay(self.id)["verified"], True)
        ids = [record["trustRecordId"] for record in CLIENT.trust_records(page_size=100)]
        self.assertIn(self.record["trustRecordId"], ids)
        self.assert_error(404, None, lambda: CLIENT.transaction(str(uuid.uuid4())))

    def test_an_export_reaches_every_record_across_pages(self) -> None:
        for i in range(3):
            CLIENT.submit_transaction(a_transaction(f"export {i}"))
        exported = list(CLIENT.export_trust_records(page_size=2))
        listed = CLIENT.trust_records(page_size=100)
        self.assertGreaterEqual(len(exported), 4)
        self.assertEqual(exported, listed)
        self.assertEqual([failing(check_trust_record(record, self.keys)) for record in exported], [[]] * len(exported))

    def test_appended_verifications_and_receipts_verify(self) -> None:
        transaction = a_transaction("appended")
        business_transaction_id = transaction["businessTransactionId"]
        CLIENT.submit_transaction(transaction)
        verification = CLIENT.verify(business_transaction_id)
        self.assertEqual(CLIENT.verification(business_transaction_id), verification)
        receipt = CLIENT.receipt(business_transaction_id)
        self.assertEqual(receipt["verificationId"], verification["verificationId"])
        self.assertEqual(CLIENT.latest_receipt(business_transaction_id), receipt)
        record = CLIENT.trust_record(business_transaction_id)
        self.assertEqual((len(record["verifications"]), len(record["receipts"])), (2, 2))
        self.assertEqual(failing(check_trust_record(record, self.keys)), [])

    @once
    def test_a_list_that_was_cut_verifies_and_is_read_whole(self) -> None:
        transaction = a_transaction("cut")
        business_transaction_id = transaction["businessTransactionId"]
        CLIENT.submit_transaction(transaction)
        appended = [CLIENT.verify(business_transaction_id) for _ in range(110)]
        record: Any = CLIENT.trust_record(business_transaction_id)
        self.assertEqual((record["verifications"], record["verificationCount"]), (appended[-100:], 111))
        self.assertNotIn("receiptCount", record)
        # The receipt is of the first verification, which the record does not hold.
        self.assertEqual(failing(check_trust_record(record, self.keys)), [])
        self.assertEqual(failing(check_trust_record({**record, "verificationCount": 100}, self.keys)), ["receipts"])
        for count in (99, -1, 111.5, "111", None, True, 2**53):
            checks = check_trust_record({**record, "verificationCount": count}, self.keys)
            self.assertEqual(failing(checks), ["verifications", "receipts"])
        listed = list(CLIENT.verifications(business_transaction_id, page_size=40))
        self.assertEqual(listed[:110], appended[::-1])
        self.assertEqual(len(listed), 111)
        self.assertEqual(list(CLIENT.receipts(business_transaction_id)), record["receipts"])

    @once
    def test_a_page_that_the_service_ends_early_is_completed(self) -> None:
        large = [a_transaction("large") for _ in range(50)]
        for transaction in large:
            transaction["intent"]["parameters"] = {"amount": 42, "note": "x" * 90_000}
            CLIENT.submit_transaction(transaction)
        listed = CLIENT.transactions(page_size=50)
        submitted = [transaction["businessTransactionId"] for transaction in reversed(large)]
        self.assertEqual(sorted(one["businessTransactionId"] for one in listed), sorted(submitted))
        self.assertEqual(len(CLIENT.trust_records(page_size=50)), 50)

    def test_audit_events_verify(self) -> None:
        self.assert_error(403, "NON_HUMAN_CALLER_DENIED", CLIENT.audit_events)
        with contextlib.suppress(AnswerError):
            Client(URL, "csk_unknown").version()
        event: Any = None
        while event is None:  # visible within a second (decisions §9)
            event = next(iter(AUDITOR.audit_events(event_type="caller.rejected", page_size=1)), None)
        self.assertEqual(failing(check_audit_event(event, self.keys)), [])
        self.assertTrue(CLIENT.verify_audit_event(event)["valid"])
        changed = with_change(event, ("event", "route"))
        self.assertEqual(failing(check_audit_event(changed, self.keys)), ["event signature"])
        self.assertFalse(CLIENT.verify_audit_event(changed)["valid"])

    @once
    def test_policies_are_validated(self) -> None:
        self.assertEqual(CLIENT.validate_policy("sandbox-echo", "1.0.0"), {"valid": True, "errors": []})
        for policy_id in ("unknown", ""):
            self.assertFalse(CLIENT.validate_policy(policy_id, "1.0.0")["valid"])

    @once
    def test_the_system_answers(self) -> None:
        self.assertEqual(CLIENT.root()["status"], "UP")
        self.assertEqual(CLIENT.health(), {"status": "UP"})
        # A busy machine may be unready for a while.
        deadline = time.monotonic() + 60
        while CLIENT.ready()["status"] != "READY" and time.monotonic() < deadline:
            time.sleep(0.1)
        self.assertEqual(CLIENT.ready()["status"], "READY")
        self.assertEqual(CLIENT.caller_identity()["callerId"], "tester")
        version, manifest = CLIENT.version(), CLIENT.api_manifest()
        self.assertEqual((manifest["apiVersion"], manifest["buildVersion"]), (version["api"], version["version"]))
        for key in CLIENT.key_set()["keys"]:
            # A set has each key's members of RFC 7517 beside it too, for libraries that read key sets.
            alone = CLIENT.key(key["keyId"])
            self.assertEqual({**key, **alone}, key)
            self.assertEqual({**alone, **alone["jwk"]}, key)
        self.assertEqual(CLIENT.openapi_json()["openapi"], "3.1.0")
        self.assertIn("openapi: 3.1.0", CLIENT.openapi_yaml())

    @once
    def test_the_pages_are_served(self) -> None:
        for page in (CLIENT.documentation, CLIENT.reference, CLIENT.handbook, CLIENT.verifier_page):
            with self.subTest(page=page.__name__):
                self.assertIn("<!doctype html>", page().lower())
        self.assertIn("<!doctype html>", CLIENT.handbook_page("callers").lower())
        self.assertGreater(len(CLIENT.documentation_asset("documentation.js")), 0)
        self.assertGreater(len(CLIENT.reference_asset("reference.js")), 0)

    def test_the_command_tells_valid_invalid_and_unusable_evidence_apart(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            jwks = write(folder, "jwks.json", CLIENT.key_set())
            record = write(folder, "record.json", self.record)
            status, output = run("verify", record, "--jwks", jwks)
            self.assertEqual(status, 0, output)
            self.assertIn("ok    receipts", output)
            self.assertIn("This does not prove:", output)
            changed = write(folder, "changed.json", with_change(self.record, ("createdAt",)))
            status, output = run("verify", changed, "--jwks", jwks)
            self.assertEqual(status, 1)
            self.assertIn("FAIL  canonical hash", output)
            for file, keys in ((jwks, jwks), (record, record), (record, f"{folder}/missing")):
                self.assertEqual(run("verify", file, "--jwks", keys)[0], 2)


def leaf_paths(value: Any, path: Any = ()) -> Any:
    if isinstance(value, dict) and value:
        for name, member in value.items():
            yield from leaf_paths(member, (*path, name))
    elif isinstance(value, list) and value:
        for i, member in enumerate(value):
            yield from leaf_paths(member, (*path, i))
    else:
        yield path


def with_change(value: Any, path: Any) -> Any:
    """A copy in which one leaf is another value of its type, or a list or object that was empty is not."""
    changed = copy.deepcopy(value)
    parent = changed
    for step in path[:-1]:
        parent = parent[step]
    leaf = parent[path[-1]]
    if isinstance(leaf, str):
        parent[path[-1]] = ("x" if leaf[:1] != "x" else "y") + leaf[1:]
    elif isinstance(leaf, bool) or leaf is None:
        parent[path[-1]] = not leaf
    elif isinstance(leaf, (int, float)):
        parent[path[-1]] = leaf / 2
    else:
        parent[path[-1]] = {"more": 1} if isinstance(leaf, dict) else [1]
    return changed


def write(folder: str, name: str, value: Any) -> str:
    file = Path(folder) / name
    file.write_text(json.dumps(value), encoding="utf-8")
    return str(file)


def run(*arguments: str) -> Any:
    output = io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
        status = main(list(arguments))
    return status, output.getvalue()


if __name__ == "__main__":
    unittest.main()
