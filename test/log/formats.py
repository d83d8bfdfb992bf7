"""What the Python client says of the formats of the log: a line of JSON in, a line out (test/log/python.test.ts)."""

import base64
import json
import sys

from countersign import Unreadable
from countersign.log import format_vkey, open_by_policy, open_checkpoint, parse_checkpoint, parse_note, parse_policy
from countersign.log import parse_proof, parse_vkey, policy_of_keys, verify_proof
from countersign.log.cosignature import cosigned_message
from countersign.merkle import require_consistent, root_of_inclusion


def content(asked, name="file"):
    return base64.b64decode(asked[name])


def note(asked):
    parsed = parse_note(content(asked))
    return [parsed.text, [[line.name, line.key_id, line.signature.hex()] for line in parsed.lines]]


def checkpoint(asked):
    parsed = parse_checkpoint(content(asked).decode("utf-8", "replace"))
    return [parsed.origin, parsed.size, parsed.root.hex()]


def opened(found):
    signers = [[one.key.key_id, one.time_seconds] for one in found.signed_by]
    return [found.origin, found.size, found.root.hex(), signers, [one.time_seconds for one in found.cosigned_by]]


def vkey(asked):
    key = parse_vkey(content(asked).decode("utf-8", "replace"))
    return [key.name, key.key_id, key.type, format_vkey(key)]


def policy(asked):
    read = parse_policy(content(asked))
    members = [[one.name, one.threshold, [member.name for member in one.members]] for one in read.groups]
    quorum = "none" if read.quorum is None else read.quorum.name
    return [[one.url for one in read.logs], [[one.name, one.url] for one in read.witnesses], members, quorum]


def proof(asked):
    read = parse_proof(content(asked))
    return [read.index, [one.hex() for one in read.path], read.checkpoint, None if read.extra is None else read.extra.hex()]


def inclusion(asked):
    path = [base64.b64decode(one) for one in asked["path"]]
    return root_of_inclusion(content(asked, "leaf"), index=asked["index"], size=asked["size"], path=path).hex()


def consistency(asked):
    parts = {name: asked[name] for name in ("start", "end", "size")}
    path = [base64.b64decode(one) for one in asked["path"]]
    require_consistent(**parts, part_root=content(asked, "partRoot"), root=content(asked, "root"), path=path)
    return True


def message(asked):
    names = ("cosigner", "origin", "start", "end")
    return cosigned_message(**{name: asked[name] for name in names}, time_seconds=asked["timeSeconds"], hash=content(asked, "hash")).hex()


ANSWERS = {
    "note": note,
    "checkpoint": checkpoint,
    "vkey": vkey,
    "policy": policy,
    "proof": proof,
    "inclusion": inclusion,
    "consistency": consistency,
    "message": message,
    "signed": lambda asked: opened(
        open_checkpoint(
            content(asked), logs=[*map(parse_vkey, asked["logs"])], witnesses=[*map(parse_vkey, asked["witnesses"])]
        )
    ),
    "trusted": lambda asked: [one.name for one in open_by_policy(content(asked), parse_policy(asked["policy"])).cosigned_by],
    "proven": lambda asked: opened(
        verify_proof(content(asked, "entry"), content(asked), policy_of_keys([*map(parse_vkey, asked["logs"])]))
    ),
}

for line in sys.stdin:
    asked = json.loads(line)
    try:
        print(json.dumps({"said": ANSWERS[asked["ask"]](asked)}))
    except Unreadable as error:
        print(json.dumps({"refused": str(error)}))
