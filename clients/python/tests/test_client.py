"""When the client repeats a call, and when it must not."""

from __future__ import annotations

import socket
import unittest
import uuid
from typing import Any, List

from countersign import AnswerError, Client, ClosedWithoutRecordError, ConnectionLostError, CountersignError
from countersign import ExecutionFailedError
from countersign import IdUsedForAnotherIntentError, InDoubtError, NotCanonical, ProvenRequest
from countersign import deterministic_id
from stub_service import Scripted, StubService

ID = "0b6f3c1e-6a3e-5c3b-9a51-2f4f7d1c8a90"
INTENT = {"action": "sandbox:echo", "target": "test", "parameters": {"amount": 42}}
TRANSACTION: Any = {"businessTransactionId": ID, "intent": INTENT}
RECORD = {"businessTransactionId": ID, "trustRecordId": "r", "transaction": TRANSACTION}
REFUSAL = {"refusalRecordId": "f", "businessTransactionId": ID, "mismatches": [], "decision": {"reason": "Too much."}}
STEP_UP: Any = {"payload": {}, "keyId": "k", "algorithm": "ed25519", "signature": ""}
APPROVAL: Any = {"payload": {}, "algorithm": "ed25519", "signature": ""}

POST, READ_RECORD = "POST /execute", f"GET /trust-records/{ID}"
READ_REFUSAL, READ_TRANSACTION = f"GET /refusal/{ID}", f"GET /transactions/{ID}"
READ_INTENT = f"GET /execution-intents/{ID}"

NOT_FOUND = {"error": "Not Found"}
DUPLICATE = Scripted(POST, 409, {"error": f"Business Transaction '{ID}' already exists."})
LIMITED = {"error": "Rate limit exceeded. Try again later.", "code": "RATE_LIMITED"}
UNKNOWN = [Scripted(ask, 404, NOT_FOUND) for ask in (READ_RECORD, READ_REFUSAL, READ_TRANSACTION)]
RELEASED = {"businessTransactionId": ID, "state": "RELEASED", "inDoubt": True, "transitions": []}
STORED = [*UNKNOWN[:2], Scripted(READ_TRANSACTION, 200, TRANSACTION)]
STORED_ONLY = [*STORED, Scripted(READ_INTENT, 200, RELEASED)]
LOST = Scripted(POST, None)
#: Answers of a proxy in between, which may have passed the call on.
OF_A_PROXY = (Scripted(POST, 200, b"<html>"), Scripted(POST, 202, {}), Scripted(POST, 302, b"", {"Location": "/sign-in"}))


class ClientCase(unittest.TestCase):
    def against(self, *script: Scripted, **options: Any) -> Client:
        self.service = StubService(list(script))
        self.addCleanup(self.service.stop)
        self.slept: List[float] = []
        return Client(self.service.url, "csk_test", sleep=self.slept.append, **options)

    def assert_posted(self, times: int) -> None:
        self.assertEqual(self.service.asked().count(POST), times)


class Reads(ClientCase):
    def test_a_read_waits_as_long_as_retry_after_says_and_asks_again(self) -> None:
        for status in (429, 503):
            with self.subTest(status=status):
                client = self.against(
                    Scripted("GET /version", status, LIMITED, {"Retry-After": "7"}),
                    Scripted("GET /version", 200, {"api": "v1"}),
                )
                self.assertEqual(client.version(), {"api": "v1"})
                self.assertEqual(self.slept, [7.0])

    def test_a_read_is_asked_again_after_a_lost_connection(self) -> None:
        client = self.against(Scripted("GET /version", None), Scripted("GET /version", 200, {"api": "v1"}))
        self.assertEqual(client.version(), {"api": "v1"})

    def test_the_sandbox_is_asked_again_after_a_lost_connection(self) -> None:
        evaluate = "POST /sandbox/evaluate"
        client = self.against(Scripted(evaluate, None), Scripted(evaluate, 200, {"valid": True}))
        self.assertEqual(client.evaluate(TRANSACTION), {"valid": True})

    def test_a_read_ends_after_its_attempts_with_everything_the_service_said(self) -> None:
        limited = Scripted("GET /version", 429, LIMITED, {"Retry-After": "1", "X-Request-Id": "abc"})
        client = self.against(*[limited] * 3, attempts=3)
        with self.assertRaises(AnswerError) as raised:
            client.version()
        error = raised.exception
        self.assertEqual((error.status, error.code, error.message, error.request_id), (429, *reversed(LIMITED.values()), "abc"))
        self.assertEqual((len(self.service.seen), self.slept), (3, [1.0, 1.0]))

    def test_a_longer_wait_than_allowed_is_not_waited(self) -> None:
        client = self.against(Scripted("GET /version", 429, LIMITED, {"Retry-After": "61"}))
        with self.assertRaises(AnswerError):
            client.version()
        self.assertEqual(self.slept, [])

    def test_other_errors_are_raised_at_once(self) -> None:
        client = self.against(Scripted("GET /version", 401, {"error": "authentication required"}))
        with self.assertRaises(AnswerError) as raised:
            client.version()
        self.assertEqual((raised.exception.status, raised.exception.code), (401, "HTTP_401"))

    def test_not_ready_is_an_answer(self) -> None:
        body = {"status": "NOT_READY", "reason": "the database is gone", "authDisabled": False}
        client = self.against(Scripted("GET /ready", 503, body, {"Retry-After": "1"}))
        self.assertEqual(client.ready(), body)

    def test_what_validate_policy_finds_missing_is_an_answer(self) -> None:
        body = {"valid": False, "errors": ["Policy 'x' version '1' was not found."]}
        client = self.against(Scripted("POST /policies/validate", 404, body))
        self.assertEqual(client.validate_policy("x", "1"), body)

    def test_the_key_is_sent_to_protected_routes_only(self) -> None:
        client = self.against(Scripted("GET /version", 200, {}), Scripted("GET /health", 200, {}))
        client.version()
        client.health()
        self.assertEqual(
            [seen.headers.get("authorization") for seen in self.service.seen], ["Bearer csk_test", None]
        )

    def test_a_function_gives_each_request_the_token_of_its_time(self) -> None:
        self.against(Scripted("GET /version", 429, LIMITED, {"Retry-After": "1"}), Scripted("GET /version", 200, {}))
        tokens = iter(["first", "second"])
        Client(self.service.url, lambda: next(tokens), sleep=self.slept.append).version()
        self.assertEqual([seen.headers.get("authorization") for seen in self.service.seen], ["Bearer first", "Bearer second"])

    def test_an_id_cannot_name_another_path(self) -> None:
        client = self.against(Scripted("GET /trust-records/..%2Fkeys%3Fa", 200, {}))
        self.assertEqual(client.trust_record("../keys?a"), {})

    def test_what_is_not_under_a_checkpoint_yet_is_waited_for(self) -> None:
        for ask, answered in (
            ("GET /log/proofs/receipt/a%2Fb", lambda client: client.log_proof("receipt", "a/b")),
            (f"GET /trust-records/{ID}?bundle=", lambda client: client.bundle(ID)),
        ):
            with self.subTest(ask):
                queued = Scripted(ask, 202, b"", {"Retry-After": "1"})
                client = self.against(queued, queued, Scripted(ask, 200, b"text\n"))
                self.assertEqual((answered(client), self.slept), ("text\n", [1.0, 1.0]))
                self.assertEqual({seen.headers.get("prefer") for seen in self.service.seen}, {"wait=10"})
                client = self.against(queued, queued, attempts=2)
                with self.assertRaises(AnswerError) as raised:
                    answered(client)
                self.assertEqual(raised.exception.status, 202)

    def test_an_export_follows_the_links_on_the_service_it_was_given(self) -> None:
        link = {"Link": '<https://elsewhere.example/trust-records?pageSize=2&cursor=a%2Cb>; rel="next"'}
        client = self.against(
            Scripted("GET /trust-records?pageSize=2", 200, [1, 2], link),
            Scripted("GET /trust-records?pageSize=2&cursor=a%2Cb", 200, [3]),
        )
        self.assertEqual(list(client.export_trust_records(page_size=2)), [1, 2, 3])


class Requests(ClientCase):
    REQUEST: Any = {**INTENT, "policy": {"name": "p", "version": "1"}, "businessTransactionId": ID, "principalId": "a"}

    def test_a_request_that_names_id_and_principal_asks_nobody_and_is_sent_under_that_id(self) -> None:
        client = self.against(LOST, *UNKNOWN, Scripted(POST, 200, RECORD))
        self.assertEqual(client.execute(self.REQUEST), RECORD)
        first, *_, last = (seen.body for seen in self.service.seen)
        self.assertEqual(first, last)
        self.assertEqual((first["businessTransactionId"], first["authority"]["principalId"]), (ID, "a"))
        self.assertEqual(first["metadata"]["businessTransactionId"], ID)
        self.assertEqual(first["authorization"]["authorityId"], first["authority"]["authorityId"])
        self.assertEqual(first["intent"]["authorizationId"], first["authorization"]["authorizationId"])

    def test_the_caller_is_asked_for_once_and_is_anonymous_where_nobody_has_an_identity(self) -> None:
        nobody = {"error": "No authenticated caller identity available."}
        client = self.against(Scripted("GET /callers/me", 404, nobody))
        request: Any = {**INTENT, "policy": {"name": "p", "version": "1"}, "key": "k"}
        first, second = client.build(request), client.build(request)
        self.assertEqual(first["authority"]["principalId"], "anonymous")
        self.assertEqual(first["businessTransactionId"], second["businessTransactionId"])
        self.assertNotEqual(first["intent"]["intentId"], second["intent"]["intentId"])

    def test_a_request_that_says_too_much_or_too_little_is_refused_before_anything_is_sent(self) -> None:
        client = self.against()
        for changed, message in (
            ({"signal": {}}, "no member 'signal'"), ({"key": "a"}, "not both"), ({"key": "", "businessTransactionId": None}, "empty"),
        ):  # fmt: skip
            with self.subTest(message=message), self.assertRaisesRegex(ValueError, message):
                client.execute({**self.REQUEST, **changed})
        with self.assertRaisesRegex(ValueError, "needs 'policy'"):
            client.execute(INTENT)
        self.assertEqual(self.service.asked(), [])


class Failures(unittest.TestCase):
    def test_a_service_that_is_away_is_named_with_its_address(self) -> None:
        client = Client("http://user:secret@127.0.0.1:1/base", "csk_test", attempts=2, sleep=lambda _: None)
        for call, request in (
            (client.version, "GET http://127.0.0.1:1/base/version"),
            (lambda: client.verify(ID), "POST http://127.0.0.1:1/base/verify"),
            (lambda: client.build({**INTENT, "policy": {"name": "p", "version": "1"}, "key": "k"}), "GET http://127.0.0.1:1/base/callers/me"),
        ):
            with self.subTest(request), self.assertRaisesRegex(CountersignError, f"^{request}: .*refused") as raised:
                call()
            self.assertEqual((raised.exception.code, raised.exception.status), ("CONNECTION_LOST", None))

    def test_a_service_that_does_not_answer_in_time_is_a_timeout(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as silent:
            url = f"http://127.0.0.1:{silent.getsockname()[1]}"
            with self.assertRaisesRegex(ConnectionLostError, f"^GET {url}/version: ") as raised:
                Client(url, "csk_test", timeout_seconds=0.2, attempts=1).version()
        self.assertEqual(raised.exception.code, "TIMEOUT")

    def test_a_key_that_is_not_there_is_refused_at_once(self) -> None:
        for key in (None, ""):
            with self.subTest(key=key), self.assertRaisesRegex(ValueError, "^api_key is (None|empty): pass the caller's key"):
                Client("http://127.0.0.1:1", key)


class Proofs(ClientCase):
    ASKS = {"WWW-Authenticate": 'DPoP realm="countersign", error="use_dpop_nonce", algs="ES256"', "DPoP-Nonce": "first"}
    REFUSED = {"error": "authentication required"}

    def test_a_request_is_sent_once_more_with_the_nonce_that_the_service_asks_for(self) -> None:
        proven: List[ProvenRequest] = []

        def proof(request: ProvenRequest) -> str:
            proven.append(request)
            return f"proof {len(proven)}"

        client = self.against(
            Scripted(POST, 401, self.REFUSED, self.ASKS),
            Scripted(POST, 200, RECORD, {"DPoP-Nonce": "second"}),
            Scripted("GET /version?", 599),
            proof=proof,
        )
        self.assertEqual(client.execute(TRANSACTION), RECORD)
        self.assert_posted(times=2)
        with self.assertRaises(AnswerError):
            client.version()
        execute, version = f"{self.service.url}/execute", f"{self.service.url}/version"
        self.assertEqual(
            proven,
            [
                ProvenRequest("POST", execute, "csk_test"),
                ProvenRequest("POST", execute, "csk_test", "first"),
                ProvenRequest("GET", version, "csk_test", "second"),
            ],
        )
        sent = [(seen.headers["authorization"], seen.headers["dpop"]) for seen in self.service.seen]
        self.assertEqual(sent, [("DPoP csk_test", f"proof {count}") for count in (1, 2, 3)])

    def test_a_service_that_asks_again_is_not_answered_again(self) -> None:
        client = self.against(*[Scripted(POST, 401, self.REFUSED, self.ASKS)] * 3, proof=lambda request: str(request.nonce))
        with self.assertRaises(AnswerError) as raised:
            client.execute(TRANSACTION)
        self.assertEqual((raised.exception.status, self.service.asked()), (401, [POST, POST]))

    def test_a_client_that_makes_no_proofs_sends_nothing_again(self) -> None:
        client = self.against(*[Scripted(POST, 401, self.REFUSED, self.ASKS)] * 2)
        with self.assertRaises(AnswerError):
            client.execute(TRANSACTION)
        self.assertEqual(self.service.asked(), [POST])


class Writes(ClientCase):
    def test_a_lost_verify_is_not_sent_again(self) -> None:
        client = self.against(Scripted("POST /verify", None))
        with self.assertRaises(ConnectionLostError):
            client.verify(ID)
        self.assertEqual(self.service.asked(), ["POST /verify"])

    def test_a_step_up_that_was_not_answered_is_not_sent_again(self) -> None:
        approve = f"POST /policies/pending-changes/{ID}/approve"
        client = self.against(Scripted(approve, None))
        with self.assertRaises(ConnectionLostError):
            client.approve_policy_change(ID, STEP_UP)
        self.assertEqual(self.service.asked(), [approve])

    def test_a_limited_delivery_is_sent_again(self) -> None:
        client = self.against(
            Scripted("POST /approvals", 429, LIMITED, {"Retry-After": "2"}),
            Scripted("POST /approvals", 201, {"approvalId": "a"}),
        )
        self.assertEqual(client.deliver_approval(APPROVAL), {"approvalId": "a"})
        self.assertEqual(([seen.body for seen in self.service.seen], self.slept), ([APPROVAL, APPROVAL], [2.0]))

    def test_what_is_left_out_of_a_proposal_is_not_sent(self) -> None:
        client = self.against(Scripted("POST /policies/a%2Fb/1.0.0/pending-changes", 201, {"changeId": ID}))
        self.assertEqual(client.propose_policy_change("a/b", "1.0.0", reason="why"), {"changeId": ID})
        self.assertEqual(self.service.seen[0].body, {"reason": "why"})


class Executes(ClientCase):
    def test_a_limited_execute_is_sent_again_without_a_read(self) -> None:
        client = self.against(Scripted(POST, 429, LIMITED, {"Retry-After": "3"}), Scripted(POST, 200, RECORD))
        self.assertEqual(client.execute(TRANSACTION), RECORD)
        self.assertEqual((self.service.asked(), self.slept), ([POST, POST], [3.0]))
        self.assertEqual(self.service.seen[1].body, TRANSACTION)

    def test_an_unanswered_execute_whose_record_exists_is_not_sent_again(self) -> None:
        for unanswered in (LOST, *OF_A_PROXY, *(Scripted(POST, status, {"error": "?"}) for status in (502, 503, 504))):
            with self.subTest(status=unanswered.status):
                client = self.against(unanswered, Scripted(READ_RECORD, 200, RECORD))
                self.assertEqual(client.execute(TRANSACTION), RECORD)
                self.assertEqual(self.service.asked(), [POST, READ_RECORD])

    def test_an_unanswered_execute_that_the_service_does_not_know_is_sent_again(self) -> None:
        for unanswered in (LOST, Scripted(POST, 503, {"error": "?"}, {"Retry-After": "2"})):
            with self.subTest(status=unanswered.status):
                client = self.against(unanswered, *UNKNOWN, Scripted(POST, 200, RECORD))
                self.assertEqual(client.execute(TRANSACTION), RECORD)
                self.assert_posted(2)

    def test_an_execute_that_is_never_answered_ends_after_its_attempts(self) -> None:
        client = self.against(LOST, *UNKNOWN, LOST, *UNKNOWN, attempts=2)
        with self.assertRaises(ConnectionLostError):
            client.execute(TRANSACTION)
        self.assert_posted(2)

    def test_a_record_that_is_written_meanwhile_is_found(self) -> None:
        client = self.against(LOST, *STORED_ONLY, Scripted(READ_RECORD, 200, RECORD))
        self.assertEqual(client.execute(TRANSACTION), RECORD)
        self.assert_posted(1)

    def test_a_transaction_without_a_record_is_never_sent_again(self) -> None:
        for unanswered in (LOST, Scripted(POST, 502, {"error": "?", "code": "EXECUTION_OUTCOME_UNKNOWN"})):
            with self.subTest(status=unanswered.status):
                client = self.against(unanswered, *STORED_ONLY, *STORED_ONLY, attempts=2)
                with self.assertRaises(InDoubtError) as raised:
                    client.execute(TRANSACTION)
                self.assertEqual(raised.exception.business_transaction_id, ID)
                self.assert_posted(1)

    def test_an_execution_that_was_closed_without_a_record_is_told_as_it_was_closed(self) -> None:
        word = {"to": "RESOLVED", "by": "alice", "note": "Asked the bank."}
        resolved = {**RELEASED, "state": "RESOLVED", "inDoubt": False, "transitions": [{"transition": word}]}
        given_up = [{"transition": {"to": "ERRORED", "by": "service"}}]
        for intent, executed, message in (
            ({**resolved, "resolution": "EXECUTED"}, True, "was executed, as alice says. Asked the bank."),
            ({**resolved, "resolution": "NOT_EXECUTED"}, False, "was not executed, as alice says. Asked the bank."),
            ({**resolved, "state": "ERRORED", "transitions": given_up}, False, "was not executed, as service says."),
        ):
            for unanswered in (DUPLICATE, LOST):
                with self.subTest(message=message, status=unanswered.status):
                    client = self.against(unanswered, *STORED, Scripted(READ_INTENT, 200, intent))
                    with self.assertRaises(ClosedWithoutRecordError) as raised:
                        client.execute_or_read(TRANSACTION)
                    error = raised.exception
                    self.assertEqual(str(error), f"Business Transaction '{ID}' {message}")
                    self.assertEqual((error.executed, error.intent, error.code), (executed, intent, "CLOSED_WITHOUT_RECORD"))
                    self.assert_posted(1)

    def test_what_no_word_has_closed_stays_in_doubt(self) -> None:
        # Finalized: its record is not there yet. None: after a restored backup, where it may have been executed.
        for answer in (Scripted(READ_INTENT, 200, {**RELEASED, "state": "FINALIZED"}), Scripted(READ_INTENT, 404, NOT_FOUND)):
            with self.subTest(status=answer.status):
                client = self.against(DUPLICATE, *[*STORED, answer] * 2, attempts=2)
                with self.assertRaises(InDoubtError) as raised:
                    client.execute_or_read(TRANSACTION)
                self.assertEqual(raised.exception.code, "IN_DOUBT")

    def test_a_lost_execute_does_not_pass_off_another_intent(self) -> None:
        other: Any = {**TRANSACTION, "intent": {**INTENT, "parameters": {"amount": 43}}}
        failed = Scripted(POST, 500, {"error": "Internal Server Error"})
        resolved = Scripted(READ_INTENT, 200, {**RELEASED, "state": "RESOLVED", "resolution": "EXECUTED"})
        for script, record in (
            ([LOST, Scripted(READ_RECORD, 200, RECORD)], RECORD),
            ([failed, Scripted(READ_RECORD, 200, RECORD)], RECORD),
            ([LOST, *STORED, resolved], None),
        ):
            with self.subTest(status=script[0].status, asked=len(script)):
                client = self.against(*script)
                with self.assertRaises(IdUsedForAnotherIntentError) as raised:
                    client.execute(other)
                self.assertEqual(raised.exception.record, record)
                self.assert_posted(1)

    def test_a_refusal_that_was_not_heard_is_raised_as_it_was_told(self) -> None:
        for more, expected in (
            ({}, (500, "RUNTIME_ERROR", False)),
            ({"approvable": True}, (500, "RUNTIME_ERROR", True)),
            ({"mismatches": [{"source": "approval"}], "approvable": True}, (403, "POLICY_DENIED", True)),
        ):
            with self.subTest(**more):
                client = self.against(LOST, UNKNOWN[0], Scripted(READ_REFUSAL, 200, {**REFUSAL, **more}))
                with self.assertRaisesRegex(AnswerError, "Execution rejected: Too much.") as raised:
                    client.execute(TRANSACTION)
                error = raised.exception
                self.assertEqual((error.status, error.code, error.needs_approval), expected)

    def test_nothing_is_sent_again_when_the_read_fails(self) -> None:
        client = self.against(LOST, *[Scripted(READ_RECORD, None)] * 2, attempts=2)
        with self.assertRaisesRegex(InDoubtError, f"GET {self.service.url}/trust-records/{ID}: ") as raised:
            client.execute(TRANSACTION)
        self.assertIsInstance(raised.exception.__cause__, ConnectionLostError)
        self.assertEqual(self.service.asked(), [POST, READ_RECORD, READ_RECORD])

    def test_a_duplicate_of_the_own_first_try_is_read(self) -> None:
        client = self.against(LOST, *UNKNOWN, DUPLICATE, Scripted(READ_RECORD, 200, RECORD))
        self.assertEqual(client.execute(TRANSACTION), RECORD)

    def test_a_failed_execution_is_raised_with_its_record_the_first_time_and_each_later_one(self) -> None:
        failed = {"status": "FAILED", "evidence": {"result": {"reason": "invoice already paid"}}}
        record = {**RECORD, "executions": [failed]}
        error = Scripted(POST, 500, {"error": "Execution failed: invoice already paid.", "code": "RUNTIME_ERROR"})
        for answer in (error, DUPLICATE, LOST):
            with self.subTest(status=answer.status):
                client = self.against(answer, Scripted(READ_RECORD, 200, record))
                with self.assertRaisesRegex(ExecutionFailedError, "Execution failed: invoice already paid.") as raised:
                    client.execute_or_read(TRANSACTION)
                self.assertEqual((raised.exception.record, raised.exception.status), (record, 500))

    def test_a_refused_execute_is_raised_and_not_sent_again(self) -> None:
        client = self.against(Scripted(POST, 500, {"error": "no", "code": "RUNTIME_ERROR"}), UNKNOWN[0])
        with self.assertRaises(AnswerError) as raised:
            client.execute(TRANSACTION)
        self.assertEqual((raised.exception.message, self.service.asked()), ("no", [POST, READ_RECORD]))
        for status in (400, 403, 404, 409):
            with self.subTest(status=status):
                client = self.against(Scripted(POST, status, {"error": "no", "code": "RUNTIME_ERROR"}))
                with self.assertRaises(AnswerError) as raised:
                    client.execute(TRANSACTION)
                self.assertEqual((raised.exception.status, self.service.asked()), (status, [POST]))

    def test_an_error_that_is_not_the_services_own_has_its_status(self) -> None:
        client = self.against(Scripted(POST, 413, ["not an envelope"]))
        with self.assertRaises(AnswerError) as raised:
            client.execute(TRANSACTION)
        self.assertEqual((raised.exception.status, raised.exception.message), (413, "HTTP 413"))

    def test_what_could_not_be_signed_is_not_sent(self) -> None:
        client = self.against()
        with self.assertRaises(NotCanonical):
            client.execute({"businessTransactionId": ID, "signals": {"amount": float("nan")}})
        self.assertEqual(self.service.seen, [])

    def test_execute_or_read_reads_what_was_submitted_before(self) -> None:
        client = self.against(DUPLICATE, Scripted(READ_RECORD, 200, RECORD))
        self.assertEqual(client.execute_or_read(TRANSACTION), RECORD)

    def test_execute_or_read_does_not_pass_off_another_intent(self) -> None:
        client = self.against(DUPLICATE, Scripted(READ_RECORD, 200, RECORD))
        other: Any = {**TRANSACTION, "intent": {**INTENT, "parameters": {"amount": 43}}}
        with self.assertRaises(IdUsedForAnotherIntentError) as raised:
            client.execute_or_read(other)
        self.assertEqual(raised.exception.record, RECORD)

    def test_execute_or_read_raises_the_409_for_an_id_of_another_caller(self) -> None:
        client = self.against(DUPLICATE, *UNKNOWN)
        with self.assertRaises(AnswerError) as raised:
            client.execute_or_read(TRANSACTION)
        self.assertEqual(raised.exception.status, 409)


class Ids(unittest.TestCase):
    def test_the_same_name_gets_the_same_id(self) -> None:
        # RFC 9562 appendix A.4.
        self.assertEqual(deterministic_id(uuid.NAMESPACE_DNS, "www.example.com"), "2ed6657d-e927-568b-95e1-2665a8aea6a2")
        self.assertEqual(deterministic_id(str(uuid.NAMESPACE_DNS), "www.example.com"), "2ed6657d-e927-568b-95e1-2665a8aea6a2")

    def test_an_address_that_is_none_is_refused(self) -> None:
        for address in ("localhost:3000", "ftp://localhost", "http://", "http://localhost/?a=b"):
            with self.subTest(address=address), self.assertRaises(ValueError):
                Client(address)


if __name__ == "__main__":
    unittest.main()
