"""The published vectors. A case of evidence has it whole, or is a JSON Patch (RFC 6902) of a case before it."""

from __future__ import annotations

import copy
import json
from functools import lru_cache
from pathlib import Path
from typing import Any, Dict, List

FOLDER = Path(__file__).resolve().parents[3] / "test" / "vectors" / "countersign"


@lru_cache(maxsize=None)
def cases(name: str) -> List[Dict[str, Any]]:
    """The cases of a file, each with its evidence whole."""
    found: List[Dict[str, Any]] = json.loads((FOLDER / name).read_text(encoding="utf-8"))["cases"]
    if len(found) < 7:
        raise AssertionError(f"{name} holds {len(found)} cases")
    # As text: to read it again takes a tenth of a deep copy.
    whole = {case["id"]: json.dumps(case["evidence"]) for case in found if "evidence" in case}
    for case in found:
        if "patch" in case:
            case["evidence"] = patched(whole[case.pop("of")], case.pop("patch"))
    return found


def evidence_of(name: str, case_id: str) -> Any:
    """A copy: a test may change it."""
    return copy.deepcopy(next(case["evidence"] for case in cases(name) if case["id"] == case_id))


def patched(text: str, patch: List[Dict[str, Any]]) -> Any:
    """The value of a JSON text after the operations: the vectors have add, remove and replace."""
    root = {"": json.loads(text)}
    for operation in patch:
        *path, last = [name.replace("~1", "/").replace("~0", "~") for name in operation["path"].split("/")]
        parent: Any = root
        for name in path:
            parent = parent[int(name)] if isinstance(parent, list) else parent[name]
        at: Any = last if isinstance(parent, dict) else len(parent) if last == "-" else int(last)
        if operation["op"] == "remove":
            del parent[at]
        elif operation["op"] == "add" and isinstance(parent, list):
            parent.insert(at, operation["value"])
        else:
            parent[at] = operation["value"]
    return root[""]
