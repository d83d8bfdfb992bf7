"""A governed function in a process of its own: makes one call, and prints where it stands, or how it was raised."""

import json
import os
import sys

from countersign import Client
from countersign.agents import CallNotExecutedError, RunInDoubtError, governed, tool_call

client = Client(os.environ["COUNTERSIGN_URL"], os.environ["COUNTERSIGN_API_KEY"], attempts=2)


@governed(
    client,
    action="vendor:pay",
    target=lambda given: given["vendor"],
    parameters=lambda given: {"amount": given["amount"], "currency": "EUR", "invoice": given["invoice"]},
    policy={"name": "vendor-payment", "version": "2.1.0"},
    signals=lambda given: {"vendorVerified": True, "paymentAmount": given["amount"], "riskScore": 5},
    note=lambda given: f"Invoice {given['invoice']}",
)
def pay(vendor: str, amount: float, invoice: str = "2026-119") -> object:
    """Pays an invoice of a vendor."""
    raise AssertionError("the function itself is never called")


assert (pay.__name__, pay.__doc__) == ("pay", "Pays an invoice of a vendor.")
for run, call, vendor, amount in json.loads(sys.argv[1]):
    with tool_call(run=run, call=call):
        proposed = ""
        try:
            proposed = pay.propose(vendor, amount).state
            said = {"returned": pay(vendor, amount=amount), "id": pay.execute(vendor, amount).record["businessTransactionId"]}
        except CallNotExecutedError as error:
            said = {"raised": error.standing.state, "reason": str(error)}
        except RunInDoubtError as error:
            said = {"raised": "doubt", "call": error.call, "reason": str(error)}
        except Exception as error:
            said = {"raised": type(error).__name__, "reason": str(error)}
    print(json.dumps({"proposed": proposed, **said}), flush=True)
