"""An agent of its own, which a test kills: executes what it is given, asks where humans must approve, and prints how it ended."""

import json
import sys

from countersign import Client

base_url, api_key, work = sys.argv[1:]
record = Client(base_url, api_key).execute(json.loads(work), on_approval_needed="ask")
print(record["businessTransactionId"], record["executions"][0]["status"], end="")
