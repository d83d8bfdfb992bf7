"""Tests when a governed tool is in doubt: a run whose call may have been executed makes no other call of the tool."""

from __future__ import annotations

import unittest
from typing import Any, Callable, Optional

from countersign import Client, InDoubtError
from countersign.agents import RunInDoubtError, governed, tool_call
from stub_service import Scripted, StubService

Answers = Callable[[str], Optional[Scripted]]


class Doubts(unittest.TestCase):
    def pay_against(self, executed: Answers, api_key: Any = "csk_test") -> Any:
        """A tool whose calls the policy lets through, at a service that knows no id. ``executed`` answers what comes after a call was sent."""
        sent = False

        def answer(asked: str) -> Scripted:
            nonlocal sent
            sent = sent or asked == "POST /execute"
            if sent:
                return executed(asked) or Scripted(asked, 404, {"error": "Not Found"})
            if asked.startswith("GET /approval-requests?"):
                return Scripted(asked, 200, {"requests": []})
            if asked == "POST /approval-requests":
                return Scripted(asked, 409, {"error": "No approval would help.", "code": "NOT_APPROVABLE"})
            if asked == "POST /sandbox/evaluate":
                return Scripted(asked, 200, {"wouldAnswer": {"status": 201}})
            return Scripted(asked, 404, {"error": "Not Found"})

        self.service = StubService([], answer)
        self.addCleanup(self.service.stop)
        client = Client(self.service.url, api_key, attempts=2, sleep=lambda _: None)

        @governed(client, action="vendor:pay", target="acme", policy={"name": "p", "version": "1.0.0"}, principal_id="u.boss")
        def pay(amount: int) -> object:
            raise AssertionError("the function itself is never called")

        return pay

    def assert_in_doubt(self, pay: Any, error: Any) -> None:
        with tool_call(run="run", call="1"), self.assertRaises(error):
            pay(5)
        sent = self.service.asked().count("POST /execute")
        with tool_call(run="run", call="2"), self.assertRaises(RunInDoubtError):
            pay(5)
        self.assertEqual(self.service.asked().count("POST /execute"), sent)

    def test_an_answer_of_something_in_between_leaves_the_call_in_doubt(self) -> None:
        for status, body in ((200, b"<html>"), (302, b"")):
            with self.subTest(status=status):
                lost = self.pay_against(lambda asked: Scripted(asked, status, body))
                self.assert_in_doubt(lost, InDoubtError)

    def test_a_key_that_cannot_be_had_after_the_call_was_sent_leaves_it_in_doubt(self) -> None:
        def key() -> str:
            if "POST /execute" in self.service.asked():
                raise RuntimeError("the issuer of tokens is away")
            return "csk_test"

        self.assert_in_doubt(self.pay_against(lambda asked: Scripted(asked, None), key), InDoubtError)


if __name__ == "__main__":
    unittest.main()
