"""The Python client in the hands of humans, and of the machines that ask them (decisions §7 to §9): run by python.test.ts.

COUNTERSIGN_PREPARED holds what Python's standard library cannot sign: step-ups, and an approver's approval.
"""

from __future__ import annotations

import json
import os
import unittest
import uuid
from typing import Any, Dict, List

from countersign import Client, AnswerError, NotApprovedError, deterministic_id, verify_evidence

URL = os.environ["COUNTERSIGN_URL"]
PREPARED = json.loads(os.environ["COUNTERSIGN_PREPARED"])
MACHINE = Client(URL, os.environ["COUNTERSIGN_API_KEY"])
MAKER = Client(URL, os.environ["COUNTERSIGN_MAKER_KEY"])
CHECKER = Client(URL, os.environ["COUNTERSIGN_CHECKER_KEY"])


def _needing(target: str) -> Dict[str, Any]:
    policy = {"name": "approved-by-two", "version": "1.0.0"}
    request = {"action": "sandbox:echo", "target": target, "parameters": {"amount": 42}, "policy": policy}
    return {**request, "signals": {"approved": True}}


class Authority(unittest.TestCase):
    maxDiff = None

    def assert_error(self, status: int, code: Any, call: Any) -> None:
        with self.assertRaises(AnswerError) as raised:
            call()
        self.assertEqual((raised.exception.status, raised.exception.code), (status, code or f"HTTP_{status}"))

    def test_a_policy_is_approved_by_a_second_human_and_lets_through_what_an_approver_signed(self) -> None:
        change, step_up = PREPARED["policy"]["change"], PREPARED["policy"]["stepUp"]
        name, version = change["target"].split("/")
        self.assertEqual(CHECKER.policy_change(change["changeId"]), change)
        self.assertIn(change, CHECKER.policy_changes(status="PENDING_APPROVAL"))
        approved = CHECKER.approve_policy_change(change["changeId"], step_up)
        self.assertEqual((approved["status"], approved["resolvedBy"]), ("APPROVED", "checker"))
        self.assertEqual(MACHINE.policy(name, version)["document"], change["proposed"])
        (newest,) = MACHINE.policies_in_effect(capability="sandbox:echo", page_size=1)
        self.assertEqual((newest["name"], newest["version"]), (name, version))
        self.assertIn(newest, MACHINE.policies(page_size=100))

        enrolment = PREPARED["approver"]
        CHECKER.approve_approver_change(enrolment["change"]["changeId"], enrolment["stepUp"])
        self.assertEqual([approver["approverId"] for approver in CHECKER.approvers()], ["alice"])
        self.assertEqual(MACHINE.key("alice:k1")["keyId"], "alice:k1")

        transaction = PREPARED["transaction"]
        pending = MACHINE.evaluate(transaction)["decision"]["pendingVerification"]
        self.assertEqual([(one["signal"], one["by"]) for one in pending], [("approved", "approval")])
        approval_id = MACHINE.deliver_approval(PREPARED["approval"])["approvalId"]
        self.assertEqual(MACHINE.execute(transaction)["executions"][0]["status"], "COMPLETED")
        used = CHECKER.approval(approval_id)
        self.assertEqual((used["status"], used["consumedBy"]), ("USED", transaction["businessTransactionId"]))
        self.assertEqual(CHECKER.approvals(status="USED", page=1), [used])

        # By the service's keys alone: the bundle holds the changes that enrolled the approver's, and put the policy into force.
        keys, log = MACHINE.key_set(), MACHINE.log_description()
        bundle = MACHINE.bundle(transaction["businessTransactionId"])
        report = verify_evidence(bundle, keys, log=log)
        self.assertEqual((report.verdict, [check for check in report.checks if check.problem is not None]), ("valid", []))
        whole = json.loads(bundle)
        kinds = sorted(proof["kind"] for proof in whole["proofs"])
        self.assertEqual(kinds, ["approval", "authorization", "change", "change", "receipt"])
        whole["changes"] = [one for one in whole["changes"] if one["kind"] == "policy"]
        report = verify_evidence(json.dumps(whole), keys, log=log)
        failing = [check.name for check in report.checks if check.problem is not None and not check.is_open]
        self.assertEqual(failing, ["approver keys", "log proofs"])

        never = {"id": "never", "when": "signals.approved", "outcome": "reject", "reason": "Never."}
        next_version = {**change["proposed"], "policyVersion": "2.0.0", "rules": [never]}
        checked = MAKER.check_policy(json.dumps(next_version))
        self.assertEqual((checked["mistakes"], checked["document"]), ([], next_version))
        self.assertIn("\npolicyVersion: ", MACHINE.policy_text(change["proposed"]["policyId"], change["proposed"]["policyVersion"]))
        simulated = MACHINE.simulate_policy(next_version)
        self.assertTrue(simulated["complete"])
        flips = [flip["businessTransactionId"] for flip in simulated["flips"]]
        self.assertEqual(flips, [transaction["businessTransactionId"]])

    def test_a_policy_is_rejected_with_a_reason(self) -> None:
        change, step_up = PREPARED["rejected"]["change"], PREPARED["rejected"]["stepUp"]
        rejected = CHECKER.reject_policy_change(change["changeId"], step_up, rejection_reason="Not this one.")
        self.assertEqual((rejected["status"], rejected["rejectionReason"]), ("REJECTED", "Not this one."))

    def test_an_approver_is_asked_and_the_execution_goes_on(self) -> None:
        asked: List[Any] = []
        needing = {**_needing("approved-for-python"), "key": "python-1"}
        whole = MACHINE.build(needing)

        class Killed(Exception):
            pass

        def die(reply: Any) -> None:
            asked.append(reply)
            raise Killed()

        # Killed after it has asked: the next run waits for the same request.
        with self.assertRaises(Killed):
            MACHINE.execute(needing, on_approval_needed="ask", note="Please.", on_asked=die)
        # Without on_asked its operator sees the code all the same.
        with self.assertLogs("countersign", "WARNING") as shown:
            record = MACHINE.execute(needing, on_approval_needed="ask", note="Please.")
        self.assertIn(f"Action code: {asked[0]['actionCode']}", shown.output[0])
        # Killed before it has read its record: the next run reads it, and asks nobody.
        self.assertEqual(MACHINE.execute(needing, on_approval_needed="ask", on_asked=die), record)
        self.assertEqual(len(asked), 1)
        request = asked[0]["request"]
        self.assertEqual((asked[0]["status"], asked[0]["missing"], request["note"]), ("PENDING", 1, "Please."))
        self.assertEqual(record["businessTransactionId"], deterministic_id(whole["businessTransactionId"], "approved"))
        self.assertEqual(record["executions"][0]["decision"]["verifiedSignals"]["approved"]["request"], request)
        self.assertEqual(MACHINE.approval_request(request["requestId"])["status"], "USED")
        judgement = MACHINE.approval_request_judgement(request["requestId"])
        self.assertEqual((judgement["decision"] or {})["outcome"], "APPROVED")

    def test_an_approver_who_is_asked_declines(self) -> None:
        def decline(asked: Any) -> None:
            waiting = CHECKER.approval_requests(waiting_for="me", status="PENDING")
            self.assertIn(asked["request"], [one["request"] for one in waiting])
            CHECKER.decline_approval_request(asked["request"]["requestId"], "Too much.")

        with self.assertRaises(NotApprovedError) as raised:
            MACHINE.execute(_needing("declined"), on_approval_needed="ask", on_asked=decline)
        self.assertEqual(str(raised.exception), "The approval request is DECLINED by checker: Too much.")
        with self.assertRaises(AnswerError) as refused:
            MACHINE.execute(_needing("not-asked"))
        self.assertTrue(refused.exception.needs_approval)
        request_id = MACHINE.request_approval(_needing("withdrawn"), expires_in_seconds=60)["request"]["requestId"]
        self.assertEqual(MACHINE.wait_for_approval(request_id, timeout_seconds=0.001)["status"], "PENDING")
        CHECKER.note_approval_request(request_id, "Which one?")
        noted = MACHINE.note_approval_request(request_id, "The first.")
        self.assertEqual([note["text"] for note in noted["notes"]], ["Which one?", "The first."])
        self.assertEqual(MACHINE.withdraw_approval_request(request_id)["status"], "WITHDRAWN")
        self.assertEqual(MACHINE.wait_for_approval(request_id)["status"], "WITHDRAWN")

    def test_an_external_connector_is_registered(self) -> None:
        change, step_up = PREPARED["external-connector"]["change"], PREPARED["external-connector"]["stepUp"]
        self.assertEqual(CHECKER.external_connector_change(change["changeId"]), change)
        CHECKER.approve_external_connector_change(change["changeId"], step_up)
        (connector,) = CHECKER.external_connectors()
        self.assertEqual((connector["changeId"], connector["capability"]), (change["changeId"], change["target"]))
        revocation = {"action": "revoke", "capability": change["target"], "reason": "test"}
        proposed = MAKER.propose_external_connector_change(revocation)
        self.assertEqual(CHECKER.external_connector_changes(status="PENDING_APPROVAL"), [proposed])
        self.assert_error(
            403,
            "STEP_UP_AUTHORIZATION_INVALID",
            lambda: CHECKER.reject_external_connector_change(proposed["changeId"], step_up, rejection_reason="No."),
        )

    def test_webhook_rules_are_put_in_effect(self) -> None:
        change, step_up = PREPARED["webhook-rules"]["change"], PREPARED["webhook-rules"]["stepUp"]
        self.assertEqual(CHECKER.webhook_rules_change(change["changeId"]), change)
        CHECKER.approve_webhook_rules_change(change["changeId"], step_up)
        first = MACHINE.webhook_rules()[0]
        self.assertEqual((first["provider"], first["approvedByChange"]), ("acme", change["changeId"]))
        proposed = MAKER.propose_webhook_rules_change({"provider": "acme", "rules": [], "reason": "test"})
        self.assertEqual(CHECKER.webhook_rules_changes(status="PENDING_APPROVAL"), [proposed])
        self.assert_error(
            403,
            "STEP_UP_AUTHORIZATION_INVALID",
            lambda: CHECKER.reject_webhook_rules_change(proposed["changeId"], step_up, rejection_reason="No."),
        )

    def test_a_key_of_a_caller_is_issued(self) -> None:
        change, step_up = PREPARED["caller-key"]["change"], PREPARED["caller-key"]["stepUp"]
        self.assertEqual(CHECKER.caller_key_change(change["changeId"]), change)
        CHECKER.approve_caller_key_change(change["changeId"], step_up)
        (key,) = [key for key in CHECKER.caller_keys() if key["callerId"] == "newcomer"]
        self.assertEqual((key["status"], key["issuedByChange"]), ("IN_EFFECT", change["changeId"]))
        revocation = {"action": "revoke", "callerId": "newcomer", "keyId": key["keyId"], "reason": "test"}
        proposed = MAKER.propose_caller_key_change(revocation)
        self.assertEqual(CHECKER.caller_key_changes(status="PENDING_APPROVAL"), [proposed])
        self.assert_error(
            403,
            "STEP_UP_AUTHORIZATION_INVALID",
            lambda: CHECKER.reject_caller_key_change(proposed["changeId"], step_up, rejection_reason="No."),
        )

    def test_a_group_of_approvers_is_set(self) -> None:
        change, step_up = PREPARED["approver-group"]["change"], PREPARED["approver-group"]["stepUp"]
        self.assertEqual(CHECKER.approver_group_change(change["changeId"]), change)
        CHECKER.approve_approver_group_change(change["changeId"], step_up)
        (group,) = CHECKER.approver_groups()
        self.assertEqual((group["members"], group["approvedByChange"]), (["alice"], change["changeId"]))
        proposed = MAKER.propose_approver_group_change({"action": "remove", "group": "managers", "reason": "test"})
        self.assertEqual(CHECKER.approver_group_changes(status="PENDING_APPROVAL"), [proposed])
        self.assert_error(
            403,
            "STEP_UP_AUTHORIZATION_INVALID",
            lambda: CHECKER.reject_approver_group_change(proposed["changeId"], step_up, rejection_reason="No."),
        )

    def test_a_stand_in_is_set(self) -> None:
        change, step_up = PREPARED["stand-in"]["change"], PREPARED["stand-in"]["stepUp"]
        found = CHECKER.stand_in_change(change["changeId"])
        # An open change is warned of as things are now: the group of another test may have come since it was proposed.
        self.assertEqual({**found, "warnings": []}, {**change, "warnings": []})
        CHECKER.approve_stand_in_change(change["changeId"], step_up)
        (stand_in,) = CHECKER.stand_ins()
        self.assertEqual((stand_in["for"], stand_in["by"]), ("alice", "bob"))
        over = {"action": "remove", "for": "alice", "from": stand_in["from"], "reason": "test"}
        proposed = MAKER.propose_stand_in_change(over)
        self.assertEqual(CHECKER.stand_in_changes(status="PENDING_APPROVAL"), [proposed])
        self.assert_error(
            403,
            "STEP_UP_AUTHORIZATION_INVALID",
            lambda: CHECKER.reject_stand_in_change(proposed["changeId"], step_up, rejection_reason="No."),
        )

    def test_an_event_endpoint_is_registered(self) -> None:
        change, step_up = PREPARED["event-endpoint"]["change"], PREPARED["event-endpoint"]["stepUp"]
        self.assertEqual(CHECKER.event_endpoint_change(change["changeId"]), change)
        CHECKER.approve_event_endpoint_change(change["changeId"], step_up)
        (endpoint,) = CHECKER.event_endpoints()
        self.assertEqual((endpoint["endpointId"], endpoint["url"]), (change["changeId"], change["target"]))
        secret = CHECKER.make_event_endpoint_secret(endpoint["endpointId"])["secret"]
        self.assertTrue(secret.startswith("whsec_"))
        CHECKER.redeliver_events(endpoint["endpointId"])
        revocation = {"action": "revoke", "url": change["target"], "reason": "test"}
        proposed = MAKER.propose_event_endpoint_change(revocation)
        self.assertEqual(CHECKER.event_endpoint_changes(status="PENDING_APPROVAL"), [proposed])
        self.assert_error(
            403,
            "STEP_UP_AUTHORIZATION_INVALID",
            lambda: CHECKER.reject_event_endpoint_change(proposed["changeId"], step_up, rejection_reason="No."),
        )

    def test_changes_are_proposed(self) -> None:
        name = PREPARED["loaded"]["policyId"]
        policy = MAKER.propose_policy_change(name, "1.0.0", reason="test", proposed_content=PREPARED["loaded"])
        self.assertEqual(policy["target"], f"{name}/1.0.0")
        again = lambda: MAKER.propose_policy_change(name, "1.0.0", reason="test", proposed_content=PREPARED["loaded"])
        self.assert_error(409, "CONFLICT", again)
        approver = MAKER.propose_approver_change(PREPARED["enrolment"])
        self.assertEqual(MAKER.approver_change(approver["changeId"]), approver)
        self.assertIn(approver, MAKER.approver_changes(page=1, page_size=10))
        self.assertIn(approver, MAKER.changes(kind="approver", status="PENDING_APPROVAL"))

    def test_what_humans_do_is_not_for_a_machine(self) -> None:
        change, step_up = PREPARED["rejected"]["change"], PREPARED["rejected"]["stepUp"]
        for call in (
            MACHINE.policy_changes,
            MACHINE.approvers,
            MACHINE.external_connectors,
            MACHINE.approvals,
            MACHINE.unfinalized_intents,
            lambda: MACHINE.approve_policy_change(change["changeId"], step_up),
        ):
            self.assert_error(403, "NON_HUMAN_CALLER_DENIED", call)

    def test_an_intent_in_doubt_is_closed_by_the_stored_evidence_or_by_a_word(self) -> None:
        kept, lost = PREPARED["inDoubt"]
        self.assertTrue(MACHINE.execution_intent(lost)["inDoubt"])
        self.assertEqual({intent["businessTransactionId"] for intent in CHECKER.unfinalized_intents()}, {kept, lost})
        self.assertEqual(CHECKER.finalize_intent(kept)["state"], "FINALIZED")
        resolved = CHECKER.resolve_intent(lost, resolution="NOT_EXECUTED", note="Asked them.")
        self.assertEqual((resolved["state"], resolved["resolution"]), ("RESOLVED", "NOT_EXECUTED"))
        self.assertEqual(CHECKER.unfinalized_intents(page=1), [])
        self.assert_error(404, None, lambda: MACHINE.execution_intent(str(uuid.uuid4())))


if __name__ == "__main__":
    unittest.main()
