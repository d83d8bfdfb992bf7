"""The receiver kit: what it proves of a release, that it acts once, and what it answers when it is asked."""

from __future__ import annotations

import base64
import http.client
import json
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any, Dict, List, Optional, Tuple

from countersign.canonical import canonicalize
from countersign.evidence import pre_auth_encoding
from countersign.receiver import Executed, FixedKeys, Journal, NotExecuted, Receiver, Refused, ServiceKeys
from logs import NoteSigner
from stub_service import Scripted, StubService

KEY_ID = "20261101T000000Z-ed25519"
SIGNER = NoteSigner("service", 5)
OTHER = NoteSigner("another", 6)
AUDIENCE = "https://payer.example"


def jwks(signer: NoteSigner = SIGNER, **members: Any) -> Dict[str, Any]:
    der = bytes.fromhex("302a300506032b6570032100") + signer._public
    pem = f"-----BEGIN PUBLIC KEY-----\n{base64.b64encode(der).decode()}\n-----END PUBLIC KEY-----\n"
    return {"keys": [{"keyId": KEY_ID, "algorithm": "ed25519", "pem": pem, **members}]}


def at(seconds: float) -> str:
    moment = datetime.now(timezone.utc) + timedelta(seconds=seconds)
    return moment.strftime("%Y-%m-%dT%H:%M:%S.000Z")


def a_release(**members: Any) -> Dict[str, Any]:
    return {
        "version": 1,
        "connectorId": "external:vendor:pay",
        "audience": AUDIENCE,
        "businessTransactionId": "0b6f3c1e-6a3e-5c3b-9a51-2f4f7d1c8a90",
        "authorizationId": "auth-1",
        "capability": "vendor:pay",
        "target": "vendor-17",
        "parameters": {"amount": 12.5, "note": "für Ada"},
        "policy": {"name": "vendor-payment", "version": "2.1.0", "contentHash": "00"},
        "approvedBy": ["dana"],
        "issuedAt": at(-1),
        "expiresAt": at(60),
        **members,
    }


def signed(value: Dict[str, Any], member: str = "release", signer: NoteSigner = SIGNER, **members: Any) -> bytes:
    signature = base64.b64encode(signer.sign(pre_auth_encoding(f"connector-{member}", canonicalize(value)))).decode()
    return canonicalize({"algorithm": "ed25519", "keyId": KEY_ID, "signature": signature, member: value, **members})


def asked(release: Dict[str, Any], signer: NoteSigner = SIGNER) -> str:
    names = ("version", "connectorId", "audience", "businessTransactionId", "authorizationId", "capability", "issuedAt", "expiresAt")
    question = signed({name: release[name] for name in names}, "question", signer)
    return base64.urlsafe_b64encode(question).decode().rstrip("=")


class ReceiverCase(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.file = Path(folder.name) / "receiver.journal"
        self.acted: List[Any] = []

    def journal(self) -> Journal:
        journal = Journal(self.file)
        self.addCleanup(journal.close)
        return journal

    def receiver(self, **members: Any) -> Receiver:
        def act(release: Any) -> Any:
            self.acted.append(release)
            return {"paid": len(self.acted)}

        given = {"keys": FixedKeys(jwks()), "capabilities": ["vendor:pay"], "act": act, "audience": AUDIENCE}
        if "journal" not in members:
            given["journal"] = self.journal()
        return Receiver(**{**given, **members})

    def post(self, receiver: Receiver, body: bytes) -> Tuple[int, Any]:
        status, content = receiver.answer("POST", body=body)
        return status, json.loads(content)

    def ask(self, receiver: Receiver, release: Dict[str, Any], signer: NoteSigner = SIGNER) -> Tuple[int, Any]:
        status, content = receiver.answer("GET", question=asked(release, signer))
        return status, json.loads(content)


class Releases(ReceiverCase):
    def test_is_carried_out_once_and_a_repeat_gets_the_stored_answer_also_after_a_restart(self) -> None:
        journal = Journal(self.file)
        body = signed(a_release())
        receiver = self.receiver(journal=journal)
        first = self.post(receiver, body)
        self.assertEqual((first[0], first[1]["success"], first[1]["result"]), (200, True, {"paid": 1}))
        self.assertEqual(self.acted[0]["parameters"], {"amount": 12.5, "note": "für Ada"})
        self.assertEqual(self.post(receiver, body), first)
        journal.close()
        self.assertEqual(self.post(self.receiver(), body), first)
        self.assertEqual(len(self.acted), 1)

    def test_two_at_the_same_time_share_one_act(self) -> None:
        may_end = threading.Event()

        def act(release: Any) -> Any:
            self.acted.append(release)
            may_end.wait(30)
            return "paid"

        receiver = self.receiver(act=act)
        release = a_release()
        answers: List[Tuple[int, Any]] = []
        threads = [threading.Thread(target=lambda: answers.append(self.post(receiver, signed(release)))) for _ in range(2)]
        for thread in threads:
            thread.start()
        # Until it has been taken it is a 404.
        while self.ask(receiver, release)[0] != 503:
            time.sleep(0.01)
        may_end.set()
        for thread in threads:
            thread.join()
        self.assertEqual(answers[0], answers[1])
        self.assertEqual((len(self.acted), answers[0][0]), (1, 200))

    def test_what_is_no_release_for_this_receiver_is_refused_before_anything_is_done(self) -> None:
        receiver = self.receiver()
        good = signed(a_release())
        for status, error, body in [
            (400, "The body is not unambiguous JSON: it does not parse, or repeats a member.", b"x"),
            (400, "The body is not unambiguous JSON: it does not parse, or repeats a member.", b"\xef\xbb\xbf" + good),
            (400, "The body is not unambiguous JSON: it does not parse, or repeats a member.", good.replace(b'"target"', b'"target":"vendor-18","target"')),
            (401, "Unknown key.", b"null"),
            (401, "Unknown key.", good.replace(KEY_ID.encode(), b"another")),
            (401, "Unknown key.", good.replace(b'"ed25519"', b'"ml-dsa-65"')),
            (401, "The signature does not hold.", good.replace(b"vendor-17", b"vendor-18")),
            (401, "The signature does not hold.", signed(a_release(), signer=OTHER)),
            (401, "The signature does not hold.", signed(a_release(), signature="%")),
            (400, "Unknown version.", signed(a_release(version=2))),
            (403, "The release is for another receiver.", signed(a_release(audience="https://other.example"))),
            (403, "The release is for another capability.", signed(a_release(capability="vendor:refund"))),
            (403, "Expired.", signed(a_release(expiresAt=at(-1)))),
            (403, "Expired.", signed(a_release(expiresAt="tomorrow"))),
            (403, "Not issued yet.", signed(a_release(issuedAt=at(60)))),
            (413, "Too large.", b"x" * (1024 * 1024 + 1)),
        ]:
            with self.subTest(error=error, body=body[:60]):
                self.assertEqual(self.post(receiver, body), (status, {"error": error}))
        self.assertEqual(receiver.answer("PATCH")[0], 405)
        self.assertEqual(self.acted, [])

    def test_what_is_refused_fails_for_certain_and_what_nobody_foresaw_is_never_tried_again(self) -> None:
        errors: List[Exception] = [Refused("invoice already paid"), RuntimeError("the bank hung up")]

        def act(release: Any) -> Any:
            raise errors.pop(0)

        receiver = self.receiver(act=act)
        status, answer = self.post(receiver, signed(a_release()))
        self.assertEqual((status, answer["success"], answer["result"]), (200, False, {"reason": "invoice already paid"}))
        with self.assertLogs("countersign", "ERROR") as logs:
            self.assertEqual(self.post(receiver, signed(a_release(authorizationId="auth-2")))[0], 500)
        self.assertIn("the bank hung up", logs.output[0])
        self.assertEqual(self.post(receiver, signed(a_release(authorizationId="auth-2")))[0], 500)

    def test_a_result_that_evidence_cannot_hold_completes_the_execution(self) -> None:
        for number, (result, kept) in enumerate(
            [(None, None), ("x" * 100_000, 100_002), (2**60, "2^53"), ({1: "a"}, "notKept"), (b"bytes", "notKept")]
        ):
            with self.subTest(result=str(result)[:20]):
                receiver = self.receiver(act=lambda _: result) if number == 0 else receiver_of(receiver, result)
                _, answer = self.post(receiver, signed(a_release(authorizationId=f"auth-{number}")))
                self.assertTrue(answer["success"])
                self.assertIn(str(kept), str(answer["result"]))


def receiver_of(receiver: Receiver, result: Any) -> Receiver:
    receiver._act = lambda _: result
    return receiver


class Questions(ReceiverCase):
    def test_are_answered_from_the_journal_to_the_service_alone(self) -> None:
        receiver = self.receiver()
        release = a_release()
        names = {"businessTransactionId": release["businessTransactionId"], "capability": "vendor:pay"}
        self.assertEqual(self.ask(receiver, release), (404, {**names, "error": "This receiver has not taken a release with this id."}))
        answered = self.post(receiver, signed(release))
        self.assertEqual(self.ask(receiver, release), answered)
        self.assertEqual(self.ask(receiver, release, OTHER)[0], 401)
        self.assertEqual(receiver.answer("GET", question="x")[0], 400)
        # A release is no question.
        text = signed(release).replace(b'"release":', b'"question":')
        self.assertEqual(receiver.answer("GET", question=base64.urlsafe_b64encode(text).decode())[0], 401)

    def test_about_what_never_ended_are_the_authors(self) -> None:
        release = a_release()
        # As a death in the middle leaves it, and the last line half written.
        self.file.write_bytes(json.dumps({"authorizationId": "auth-1", "release": release}).encode() + b'\n{"author')
        known: List[Optional[Any]] = [None, NotExecuted("the bank has none")]
        receiver = self.receiver(read_back=lambda _: known.pop(0))
        self.assertEqual(self.ask(receiver, release)[0], 503)
        status, answer = self.post(receiver, signed(release))
        self.assertEqual((status, answer["success"], answer["result"]), (200, False, {"reason": "the bank has none"}))
        self.assertEqual(self.ask(receiver, release), (200, answer))
        self.assertEqual((known, self.acted), ([], []))
        self.assertEqual(Executed(1).result, 1)


    def test_about_what_ends_meanwhile_keep_its_answer(self) -> None:
        journal = self.journal()
        receiver = self.receiver(journal=journal, read_back=lambda _: NotExecuted("asked too early"))
        release = a_release()
        journal.begin(release)
        before = dict(journal.find("auth-1") or {})
        find, looks = journal.find, [lambda _: before]
        # As a table answers: what it read may be of before.
        journal.find = lambda name: looks.pop()(name) if looks else find(name)
        journal.end("auth-1", {"success": True})
        self.assertEqual(self.ask(receiver, release), (200, {"success": True}))


class Journals(ReceiverCase):
    def test_are_of_one_process(self) -> None:
        self.journal()
        program = f"from countersign.receiver import Journal; Journal({str(self.file)!r})"
        ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
        self.assertIn("BlockingIOError: another process has this journal open", ran.stderr)

    def test_say_which_line_cannot_be_read_and_forget_what_was_answered_long_ago(self) -> None:
        journal = Journal(self.file)
        for name in ("answered", "in doubt"):
            self.assertTrue(journal.begin(a_release(authorizationId=name, expiresAt="2020-01-01T00:00:00Z")))
            self.assertFalse(journal.begin(a_release(authorizationId=name)))
        journal.end("answered", {"success": True})
        journal.close()
        journal = Journal(self.file)
        self.assertIsNone(journal.find("answered"))
        self.assertIsNotNone(journal.find("in doubt"))
        journal.close()
        self.file.write_bytes(b"x\n" + self.file.read_bytes())
        with self.assertRaisesRegex(ValueError, "line 1 of .* cannot be read"):
            Journal(self.file)


class Keys(unittest.TestCase):
    def test_follow_the_service_and_outlive_it(self) -> None:
        seconds = [0.0]
        of = "GET /.well-known/jwks.json"
        revoked = jwks(revokedAt="2026-11-01T00:00:00.000Z")["keys"] + [dict(jwks(OTHER)["keys"][0], keyId="next")]
        service = StubService([Scripted(of, 200, jwks()), Scripted(of, 200, {"keys": revoked}), Scripted(of, 503, {"error": "away"})])
        self.addCleanup(service.stop)
        keys = ServiceKeys(service.url, clock=lambda: seconds[0])
        # A flood of invented ids causes no requests.
        self.assertEqual([keys.find("next"), keys.find("next"), len(service.seen)], [None, None, 1])
        seconds[0] = 31
        self.assertIsNotNone(keys.find("next"))
        self.assertIsNone(keys.find(KEY_ID))
        seconds[0] = 100
        with self.assertLogs("countersign", "WARNING"):
            self.assertIsNotNone(keys.find("next"))
        with self.assertRaisesRegex(ValueError, "https"):
            ServiceKeys("http://service.example")

    def test_of_approvers_do_not_pass_for_the_services(self) -> None:
        approver = dict(jwks(OTHER)["keys"][0], keyId="alice:laptop")
        keys = FixedKeys({"keys": jwks()["keys"] + [approver]})
        self.assertIsNone(keys.find("alice:laptop"))
        self.assertIsNotNone(keys.find(KEY_ID))


class Server(ReceiverCase):
    def test_serves_releases_and_ends_what_runs(self) -> None:
        listening = self.receiver(audience=None).listen(0)
        release = a_release(audience=listening.origin)
        connection = http.client.HTTPConnection("127.0.0.1", listening.port)
        self.addCleanup(connection.close)
        for method, headers, body, status in [
            ("POST", {}, signed(release), 200),
            ("GET", {"Countersign-Question": asked(release)}, None, 200),
            ("DELETE", {}, None, 405),
            ("POST", {"Content-Length": "9999999"}, None, 413),
        ]:
            connection.request(method, "/", body=body, headers=headers)
            answer = connection.getresponse()
            self.assertEqual((answer.status, answer.getheader("Content-Type")), (status, "application/json"))
            answer.read()
        listening.close()
        self.assertEqual(len(self.acted), 1)


if __name__ == "__main__":
    unittest.main()
