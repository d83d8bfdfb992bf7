"""The client as a witness of the evidence log: what it remembers, what it lets pass, and what it takes for a contradiction."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path
from typing import Any, Dict, List, Optional

from countersign import Client, AnswerError, LogContradictionError
from countersign.log import LogError
from logs import Log, NoteSigner, text
from stub_service import DrippingService, Scripted, StubService

LOG = Log()
FORK = Log(fork=" of another history")
SECOND = Log("countersign.example/log/2")
ID = "0b6f3c1e-6a3e-5c3b-9a51-2f4f7d1c8a90"
TRANSACTION: Any = {"businessTransactionId": ID, "intent": {"action": "a", "target": "t"}}
EXECUTED = Scripted("POST /execute", 200, {"businessTransactionId": ID})
CHECKPOINT = "GET /log/checkpoint"
DESCRIBED = Scripted("GET /.well-known/countersign-log", 200, LOG.description())


def newest(size: int, log: Log = LOG, path: str = "/log") -> Scripted:
    return Scripted(f"GET {path}/checkpoint", 200, log.checkpoint(size).encode("utf-8"))


def consistency(before: int, after: int, log: Log = LOG, path: str = "/log", **changed: Any) -> Scripted:
    answer = {**log.consistency(before, after), **changed}
    return Scripted(f"GET {path}/consistency?from={before}&to={after}", 200, answer)


class WitnessCase(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.file = self.folder / "log.json"

    def against(self, *script: Scripted, **options: Any) -> Client:
        self.service = StubService(list(script))
        self.addCleanup(self.service.stop)
        options = {"log_checkpoint_file": self.file, "log_check_interval": 0, **options}
        return Client(self.service.url, "csk_test", sleep=lambda _: None, **options)

    def remember(self, size: int, log: Log = LOG) -> None:
        note = log.checkpoint(size)
        self.file.write_text(json.dumps({"origin": log.origin, "vkeys": [log.signer.vkey], "checkpoint": note}), "utf-8")

    def remembered(self) -> str:
        value = json.loads(self.file.read_text("utf-8"))
        self.assertEqual(set(value), {"origin", "vkeys", "checkpoint"})
        return value["checkpoint"]

    def assert_executed(self, client: Client) -> None:
        self.assertEqual(client.execute(TRANSACTION), EXECUTED.body)
        self.assertEqual(self.service.asked()[-1], EXECUTED.asked)

    def contradictions(self) -> List[Dict[str, Any]]:
        return [json.loads(one.read_text("utf-8")) for one in sorted(self.folder.glob("log.json.contradiction-*.json"))]


class Remembering(WitnessCase):
    def test_the_first_call_trusts_the_keys_that_the_service_names_and_keeps_them(self) -> None:
        self.assert_executed(self.against(newest(5), DESCRIBED, EXECUTED))
        self.assertEqual(
            json.loads(self.file.read_text("utf-8")),
            {"origin": LOG.origin, "vkeys": [LOG.signer.vkey], "checkpoint": LOG.checkpoint(5)},
        )
        # No key goes to the log, and nothing else lies in the folder.
        self.assertNotIn("authorization", self.service.seen[0].headers)
        self.assertEqual({one.name for one in self.folder.iterdir()}, {"log.json", "log.json.lock"})

    def test_a_log_that_has_grown_proves_it_and_is_remembered(self) -> None:
        for before, after in ((1, 2), (3, 4), (4, 9), (5, 6)):
            with self.subTest(before=before, after=after):
                self.remember(before)
                self.assert_executed(self.against(newest(after), consistency(before, after), EXECUTED))
                self.assertEqual(self.remembered(), LOG.checkpoint(after))

    def test_a_log_that_has_not_grown_is_asked_for_nothing_more(self) -> None:
        self.remember(5)
        self.assert_executed(self.against(newest(5), EXECUTED))
        self.remember(0)
        self.assert_executed(self.against(newest(5), EXECUTED))
        self.assertEqual(self.remembered(), LOG.checkpoint(5))

    def test_a_check_is_made_before_each_call_or_after_the_interval(self) -> None:
        version = Scripted("GET /version", 200, {"api": "v1"})
        client = self.against(newest(5), DESCRIBED, version, newest(5), version)
        client.version()
        client.version()
        self.assertEqual(self.service.asked().count(CHECKPOINT), 2)
        client = self.against(newest(5), version, version, log_check_interval=60)
        client.version()
        client.version()
        self.assertEqual(self.service.asked().count(CHECKPOINT), 1)
        client = self.against(version, log_checkpoint_file=None)
        client.version()
        self.assertEqual(self.service.asked(), ["GET /version"])

    def test_an_execution_under_way_is_brought_to_its_end_before_the_next_check(self) -> None:
        self.remember(5)
        reads = [Scripted(f"GET /{route}/{ID}", 404, {}) for route in ("trust-records", "refusal", "transactions")]
        client = self.against(newest(5), Scripted("POST /execute", None), *reads, EXECUTED)
        self.assert_executed(client)
        self.assertEqual(self.service.asked().count(CHECKPOINT), 1)

    def test_a_checkpoint_that_another_process_remembered_meanwhile_is_not_replaced_by_an_older_one(self) -> None:
        self.remember(5)
        others: List[Optional[Client]] = []

        def serve(asked: str) -> Scripted:
            # While the first client waits for its checkpoint of 7, the other one sees and remembers 9.
            if asked == CHECKPOINT and others:
                other = others.pop()
                assert other is not None
                other.version()
                return newest(7)
            due = {CHECKPOINT: newest(9), "GET /version": Scripted(asked, 200, {"api": "v1"})}
            before, _, after = asked.rpartition("&to=")
            return due[asked] if asked in due else consistency(int(before.rpartition("=")[2]), int(after))

        service = StubService([], serve)
        self.addCleanup(service.stop)
        others.append(Client(service.url, log_checkpoint_file=self.file, log_check_interval=0))
        Client(service.url, log_checkpoint_file=self.file, log_check_interval=0).version()
        self.assertEqual(self.remembered(), LOG.checkpoint(9))
        self.assertEqual(service.asked().count("GET /version"), 2)
        self.assertEqual(self.contradictions(), [])


    def test_several_processes_never_take_a_file_back(self) -> None:
        sizes = itertools.count(5)
        lock = threading.Lock()
        served = {"GET /version": Scripted("GET /version", 200, {"api": "v1"}), DESCRIBED.asked: DESCRIBED}

        def serve(asked: str) -> Scripted:
            if asked == CHECKPOINT:
                with lock:
                    return newest(next(sizes))
            before, _, after = asked.rpartition("&to=")
            return served[asked] if asked in served else consistency(int(before.rpartition("=")[2]), int(after))

        service = StubService([], serve)
        self.addCleanup(service.stop)
        program = (
            "import json, sys; from countersign import Client\n"
            "client = Client(sys.argv[1], log_checkpoint_file=sys.argv[2], log_check_interval=0)\n"
            "for _ in range(8):\n"
            "    client.version()\n"
            "    print(json.load(open(sys.argv[2], encoding='utf-8'))['checkpoint'].splitlines()[1])\n"
        )
        command = [sys.executable, "-c", program, service.url, str(self.file)]
        env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        started = [subprocess.Popen(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(3)]
        for process in started:
            out, problems = process.communicate()
            self.assertEqual(process.returncode, 0, problems)
            remembered = [int(line) for line in out.split()]
            self.assertEqual((len(remembered), remembered), (8, sorted(remembered)))
        self.assertEqual(self.contradictions(), [])
        self.assertEqual({one.name for one in self.folder.iterdir()}, {"log.json", "log.json.lock"})


class Pinned(WitnessCase):
    def test_keys_that_are_given_are_trusted_alone(self) -> None:
        witness = NoteSigner("witness.example/w1", 2, "ed25519-cosignature")
        policy = f"log {LOG.signer.vkey}\nwitness w {witness.vkey}\nquorum w\n"
        for log in (LOG.description(), json.dumps(LOG.description()), json.dumps(LOG.description()).encode("utf-8"), policy):
            with self.subTest(type(log)):
                self.file.unlink(missing_ok=True)
                self.assert_executed(self.against(newest(5), EXECUTED, log=log))
                self.assertEqual(self.remembered(), LOG.checkpoint(5))
        stranger = Log(seed=9)
        client = self.against(newest(6, stranger), log=LOG.description())
        with self.assertRaisesRegex(LogError, "is not signed by a trusted key of the log"):
            client.execute(TRANSACTION)
        self.assertEqual(self.service.asked(), [CHECKPOINT])

    def test_a_description_that_is_none_is_refused_when_the_client_is_made(self) -> None:
        vkey = LOG.signer.vkey
        cases: Any = [
            ({}, "has no list `logs`"),
            ("{", "is not JSON"),
            ({"logs": []}, "holds no key of a known type"),
            ({"logs": [{"origin": LOG.origin}]}, "Log 1 of the log description has no `origin` or no list `vkeys`"),
            ({"logs": [{"origin": "other", "vkeys": [vkey]}]}, "Log 1 .* has a wrong key: the key '.*' is of another name"),
            ({"logs": [{"origin": LOG.origin, "vkeys": [vkey[:-1]]}]}, "Log 1 .* has a wrong key: the verifier key"),
            ("quorum none", None),
            ("", "is no policy of logs either: the policy has no quorum line"),
        ]
        for log, message in cases:
            with self.subTest(log=log):
                if message is None:
                    Client("http://localhost", log_checkpoint_file=self.file, log=log)
                    continue
                with self.assertRaisesRegex(LogError, message):
                    Client("http://localhost", log_checkpoint_file=self.file, log=log)
        with self.assertRaisesRegex(ValueError, "it needs a log_checkpoint_file"):
            Client("http://localhost", log=LOG.description())
        with self.assertRaisesRegex(ValueError, "there is no folder"):
            Client("http://localhost", log_checkpoint_file=self.folder / "missing" / "log.json")


class Contradictions(WitnessCase):
    def assert_contradicted(self, reason: str, received: str, *script: Scripted, **options: Any) -> Dict[str, Any]:
        seen = self.remembered()
        client = self.against(*script, *script, newest(9), consistency(5, 9), EXECUTED, **options)
        for times in (1, 2):
            with self.assertRaisesRegex(LogContradictionError, reason) as raised:
                client.execute(TRANSACTION)
            held = self.contradictions()
            self.assertEqual(len(held), times)
            self.assertEqual((held[-1]["seen"], held[-1]["received"]), (seen, received))
            self.assertEqual(held[-1]["reason"], raised.exception.reason)
            self.assertIn(str(self.folder), str(raised.exception.file))
            self.assertEqual(self.remembered(), seen)
        # The execution was never sent, and can be once the log is the one that was seen.
        self.assertNotIn("POST /execute", self.service.asked())
        self.assert_executed(client)
        self.assertEqual(self.remembered(), LOG.checkpoint(9))
        for one in self.folder.glob("*.contradiction-*"):
            one.unlink()
        self.remember(5)
        return held[-1]

    def setUp(self) -> None:
        super().setUp()
        self.remember(5)

    def test_a_smaller_log_is_one(self) -> None:
        held = self.assert_contradicted("had 5 entries, and has 4 now", LOG.checkpoint(4), newest(4))
        self.assertIsNone(held["consistency"])

    def test_another_root_of_the_same_size_is_one(self) -> None:
        held = self.assert_contradicted("have 5 entries and different roots", FORK.checkpoint(5), newest(5, FORK))
        self.assertIsNone(held["consistency"])

    def test_a_log_that_is_not_shown_to_begin_with_what_was_seen_is_one(self) -> None:
        for answer, why in (
            (consistency(5, 8, FORK), "the path does not lead to the root of the part"),
            (consistency(5, 8), "the path does not lead to the root of the tree"),
            (consistency(5, 8, hashes=[]), "the path is too short"),
            (consistency(5, 8, hashes=LOG.consistency(5, 8)["hashes"] * 2), "the path is too long"),
            (consistency(5, 8, hashes=["!"] * 3), "path hash 0 has 0 bytes"),
            (consistency(5, 8, hashes=None), "the answer has no list of hashes"),
        ):
            with self.subTest(why):
                reason = f"is not shown to begin with the 5 entries that it had: {why}"
                held = self.assert_contradicted(reason, FORK.checkpoint(8), newest(8, FORK), answer)
                self.assertEqual(held["consistency"], answer.body)

    def test_an_answer_that_is_no_proof_is_one_and_is_kept_as_text(self) -> None:
        for body, why in (
            (b"<html>", "not JSON"),
            (b"\xff", "not JSON"),
            (b"[" * 20_000 + b"]" * 20_000, "deeper than 80"),
            (b'{"hashes":["\\ud800"]}', "a string holds a lone surrogate"),
        ):
            with self.subTest(body[:10]):
                answer = Scripted("GET /log/consistency?from=5&to=8", 200, body)
                held = self.assert_contradicted(why, FORK.checkpoint(8), newest(8, FORK), answer)
                self.assertEqual(held["consistency"], body.decode("utf-8", "replace"))
        endless = Scripted("GET /log/consistency?from=5&to=8", 200, b"x" * (256 * 1024 + 1))
        held = self.assert_contradicted("has more than 262144 bytes", FORK.checkpoint(8), newest(8, FORK), endless)
        self.assertIsNone(held["consistency"])

    def test_the_next_log_is_followed_when_the_closed_one_holds_what_was_seen(self) -> None:
        closed, grown = newest(8, path="/log/1"), consistency(5, 8, path="/log/1")
        for log in (None, LOG.description(), {"logs": [*LOG.description()["logs"], *SECOND.description()["logs"]]}):
            self.remember(5)
            client = self.against(newest(1, SECOND), closed, grown, EXECUTED, log=log)
            with self.assertLogs("countersign", "WARNING") as logged:
                self.assert_executed(client)
            self.assertIn(f"is now '{SECOND.origin}'; '{LOG.origin}' is closed", logged.output[0])
            self.assertEqual(self.remembered(), SECOND.checkpoint(1))
        self.remember(5)
        self.assert_contradicted("had 5 entries, and has 3 now", LOG.checkpoint(3), newest(1, SECOND), newest(3, path="/log/1"))
        self.assert_contradicted(
            "is shown in place of the closed log", SECOND.checkpoint(1), newest(1, SECOND), newest(1, SECOND, "/log/1")
        )

    def test_the_next_logs_are_followed_by_a_client_that_was_given_the_keys_of_the_first_alone(self) -> None:
        third, options = Log("countersign.example/log/3"), {"log": LOG.description()}
        steps = (
            ([newest(1, SECOND), newest(8, path="/log/1"), consistency(5, 8, path="/log/1")], SECOND.checkpoint(1)),
            ([newest(1, SECOND)], SECOND.checkpoint(1)),
            ([newest(4, SECOND), consistency(1, 4)], SECOND.checkpoint(4)),
            ([newest(1, third), newest(6, SECOND, "/log/2"), consistency(4, 6, path="/log/2")], third.checkpoint(1)),
            ([newest(1, third)], third.checkpoint(1)),
        )
        for script, remembered in steps:
            self.assert_executed(self.against(*script, EXECUTED, **options))
            self.assertEqual(self.remembered(), remembered)
        with self.assertRaisesRegex(LogError, "is not signed by a trusted key"):
            self.against(newest(2, Log(third.origin, seed=9)), **options).execute(TRANSACTION)
        with self.assertRaisesRegex(LogContradictionError, f"and was '{third.origin}'"):
            self.against(newest(9), **options).execute(TRANSACTION)

    def test_a_log_before_the_one_that_was_seen_is_one(self) -> None:
        self.remember(3, SECOND)
        both = {"logs": [*LOG.description()["logs"], *SECOND.description()["logs"]]}
        client = self.against(newest(9), log=both)
        with self.assertRaisesRegex(LogContradictionError, f"The log is '{LOG.origin}' now, and was '{SECOND.origin}'"):
            client.execute(TRANSACTION)

    def test_only_so_many_are_kept(self) -> None:
        for i in range(100):
            (self.folder / f"log.json.contradiction-{i}.json").touch()
        with self.assertRaises(LogContradictionError) as raised:
            self.against(newest(4)).execute(TRANSACTION)
        self.assertIsNone(raised.exception.file)


class Passing(WitnessCase):
    def test_a_log_that_is_off_or_away_stops_no_execution(self) -> None:
        for remembered in (False, True):
            for status in (404, 429, 500, 503, None):
                with self.subTest(status=status, remembered=remembered):
                    if remembered:
                        self.remember(5)
                    client = self.against(Scripted(CHECKPOINT, status, {"error": "?"}), EXECUTED)
                    with self.assertLogs("countersign", "WARNING") as logged:
                        self.assert_executed(client)
                    self.assertRegex(logged.output[0], "The evidence log was not checked: GET (http://[^/]+)?/log/checkpoint")
                    self.assertEqual(self.file.exists(), remembered)

    def test_an_answer_without_end_stops_no_execution(self) -> None:
        client = self.against(Scripted(CHECKPOINT, 200, b"x" * (256 * 1024 + 1)), EXECUTED)
        with self.assertLogs("countersign", "WARNING") as logged:
            self.assert_executed(client)
        self.assertIn("the answer has more than 262144 bytes", logged.output[0])

    def test_an_answer_that_is_cut_short_stops_no_execution_and_accuses_nobody(self) -> None:
        for cut in (newest(9), consistency(5, 9)):
            with self.subTest(cut.asked):
                self.remember(5)
                client = self.against(*([] if cut.asked == CHECKPOINT else [newest(9)]), cut._replace(cut_at=30), EXECUTED)
                with self.assertLogs("countersign", "WARNING") as logged:
                    self.assert_executed(client)
                self.assertRegex(logged.output[0], "the connection ended [0-9]+ bytes before the answer did")
                self.assertEqual((self.remembered(), self.contradictions()), (LOG.checkpoint(5), []))

    def test_an_answer_that_comes_byte_by_byte_stops_no_execution_for_longer_than_the_timeout(self) -> None:
        for part in ("headers", "body"):
            with self.subTest(part), DrippingService(part) as dripping:
                client = Client(dripping.url, log_checkpoint_file=self.file, log_check_interval=0, timeout_seconds=0.3)
                with self.assertLogs("countersign", "WARNING") as logged:
                    self.assertEqual(client.version(), {"api": "v1"})
                self.assertIn("TimeoutError no whole answer within 0.3 seconds", logged.output[0])

    def test_a_proof_that_is_not_answered_stops_no_execution_and_nothing_unproven_is_remembered(self) -> None:
        for first, asked in ((True, DESCRIBED.asked), (False, "GET /log/consistency?from=5&to=9")):
            with self.subTest(asked), self.assertLogs("countersign", "WARNING"):
                if not first:
                    self.remember(5)
                self.assert_executed(self.against(newest(9), Scripted(asked, 404, {}), EXECUTED))
                self.assertEqual(self.remembered() if not first else None, None if first else LOG.checkpoint(5))

    def test_an_error_of_the_call_itself_is_raised_as_ever(self) -> None:
        self.remember(5)
        with self.assertRaises(AnswerError):
            self.against(newest(5), Scripted("POST /execute", 403, {"error": "no"})).execute(TRANSACTION)


class Refused(WitnessCase):
    def test_a_file_that_was_edited_is_an_error_and_accuses_nobody(self) -> None:
        note = LOG.checkpoint(5)
        for edited in (
            note.replace("\n5\n", "\n9\n"),
            note.replace("\n5\n", "\n0\n"),
            note.replace(text(LOG.root(5)), text(FORK.root(5))),
            Log(seed=9).checkpoint(5),
        ):
            for log in (None, LOG.description()):
                with self.subTest(edited, log=log):
                    self.file.write_text(
                        json.dumps({"origin": LOG.origin, "vkeys": [LOG.signer.vkey], "checkpoint": edited}), "utf-8"
                    )
                    with self.assertRaisesRegex(LogError, "log.json does not hold the checkpoint of a log .*: move it away"):
                        self.against(newest(8), consistency(5, 8), log=log).execute(TRANSACTION)
                    self.assertEqual((self.service.asked(), self.contradictions()), ([], []))

    def test_a_checkpoint_that_is_none_or_that_no_trusted_key_signed_is_an_error(self) -> None:
        note = LOG.checkpoint(9)
        broken = note.replace(text(LOG.root(9)), text(FORK.root(9)))
        for body, why in (
            (b"<html>", "the note has no blank line"),
            (b"\xff", "is not UTF-8 text"),
            (broken.encode("utf-8"), "the signature of .* does not hold"),
            (Log(seed=9).checkpoint(9).encode("utf-8"), "is not signed by a trusted key"),
            (Log("other.example/log/1").checkpoint(9).encode("utf-8"), "is not signed by a trusted key of the log 'other"),
            (Log("countersign.example/log/2", seed=9).checkpoint(9).encode("utf-8"), "is not signed by a trusted key"),
        ):
            with self.subTest(why):
                self.remember(5)
                client = self.against(Scripted(CHECKPOINT, 200, body), newest(5), EXECUTED)
                with self.assertRaisesRegex(LogError, why):
                    client.execute(TRANSACTION)
                self.assertEqual((self.remembered(), self.contradictions()), (LOG.checkpoint(5), []))
                self.assertEqual(self.service.asked(), [CHECKPOINT])
                self.assert_executed(client)

    def test_a_file_that_holds_something_else_is_an_error(self) -> None:
        good = {"origin": LOG.origin, "vkeys": [LOG.signer.vkey], "checkpoint": LOG.checkpoint(5)}
        for value in ("", "[]", "7", json.dumps({**good, "vkeys": 7}), json.dumps({**good, "vkeys": [7]}), json.dumps({**good, "checkpoint": "x"})):
            with self.subTest(value[:40]):
                self.file.write_text(value, "utf-8")
                with self.assertRaisesRegex(LogError, "log.json does not hold the checkpoint of a log"):
                    self.against(newest(5), DESCRIBED).execute(TRANSACTION)


if __name__ == "__main__":
    unittest.main()
