"""Inclusion and consistency proofs: the test data of transparency-dev/merkle, and trees by RFC 9162's own definitions."""

from __future__ import annotations

import base64
import json
import unittest
from pathlib import Path
from typing import Any, Callable, Dict, List

from countersign import Unreadable
from countersign.merkle import leaf_hash, require_consistent, root_of_inclusion, root_of_subtree_inclusion
from logs import consistency_path, inclusion_path, root_of

VECTORS = Path(__file__).resolve().parents[3] / "test" / "vectors" / "merkle"


def decoded(text: str) -> bytes:
    return base64.b64decode(text)


def path_of(case: Dict[str, Any]) -> List[bytes]:
    return [decoded(one) for one in case["proof"] or []]


@unittest.skipUnless(VECTORS.exists(), "the vectors of the repository are not here")
class Published(unittest.TestCase):
    def run_all(self, name: str, holds: Callable[[Dict[str, Any]], bool], refused: Callable[[Dict[str, Any]], bool]) -> None:
        """``refused`` are accepted by transparency-dev/merkle, and not here."""
        said = {True: 0, False: 0}
        for case in json.loads((VECTORS / name).read_text("utf-8")):
            due = not case["wantErr"] and not refused(case)
            with self.subTest(case["name"], file=name):
                try:
                    found = holds(case)
                except Unreadable:
                    found = False
                self.assertEqual(found, due)
            said[due] += 1
        self.assertGreater(min(said.values()), 1)

    def test_inclusion(self) -> None:
        def holds(case: Dict[str, Any]) -> bool:
            leaf, root = decoded(case["leafHash"]), decoded(case["root"])
            return root_of_inclusion(leaf, index=case["leafIdx"], size=case["treeSize"], path=path_of(case)) == root

        self.run_all("inclusion.json", holds, lambda case: False)

    def test_inclusion_in_a_subtree(self) -> None:
        def holds(case: Dict[str, Any]) -> bool:
            range_ = {"start": case["start"], "end": case["end"]}
            leaf, root = decoded(case["leafHash"]), decoded(case["root"])
            return root_of_subtree_inclusion(leaf, **range_, index=case["leafIdx"], path=path_of(case)) == root

        self.run_all("subtreeinclusion.json", holds, lambda case: False)

    def test_consistency(self) -> None:
        def holds(case: Dict[str, Any]) -> bool:
            roots = {"part_root": decoded(case["root1"]), "root": decoded(case["root2"])}
            require_consistent(end=case["size1"], size=case["size2"], **roots, path=path_of(case))
            return True

        # An empty part proves nothing, and equal roots may be no hashes.
        self.run_all("consistency.json", holds, lambda case: case["size1"] == 0 or len(decoded(case["root2"])) != 32)

    def test_consistency_of_a_subtree(self) -> None:
        def holds(case: Dict[str, Any]) -> bool:
            require_consistent(
                start=case["start"],
                end=case["end"],
                size=case["size"],
                part_root=decoded(case["root1"]),
                root=decoded(case["root2"]),
                path=path_of(case),
            )
            return True

        self.run_all(
            "subtreeconsistency.json",
            holds,
            lambda case: case["start"] == case["end"] or len(decoded(case["root2"])) != 32,
        )


class Definitions(unittest.TestCase):
    ENTRIES = [bytes([i]) * i for i in range(40)]

    def test_every_leaf_of_every_size_leads_to_the_root_and_no_other_leaf_does(self) -> None:
        for size in range(1, 41):
            entries = self.ENTRIES[:size]
            root = root_of(entries)
            for index in range(size):
                path = inclusion_path(index, entries)
                found = root_of_inclusion(leaf_hash(entries[index]), index=index, size=size, path=path)
                self.assertEqual(found, root)
                other = root_of_inclusion(leaf_hash(b"other"), index=index, size=size, path=path)
                self.assertNotEqual(other, root)

    def test_every_two_sizes_are_consistent_and_no_other_root_is(self) -> None:
        roots = [root_of(self.ENTRIES[:size]) for size in range(41)]
        for size in (1, 2, 7, 8, 9, 32, 33, 40):
            for end in range(1, size + 1):
                path = consistency_path(end, self.ENTRIES[:size], True)
                require_consistent(end=end, size=size, part_root=roots[end], root=roots[size], path=path)
                for changed in ({"end": size + 1}, {"root": bytes(32)}, {"part_root": bytes(32)}, {"path": [*path, bytes(32)]}):
                    given: Any = {"end": end, "size": size, "part_root": roots[end], "root": roots[size], "path": path, **changed}
                    with self.assertRaises(Unreadable):
                        require_consistent(**given)

    def test_what_is_no_size_is_refused(self) -> None:
        leaf = bytes(32)
        for index, size in ((0, 0), (-1, 1), (1, 1), (0, 2**53), (True, 2), (0, 1.0), (0, "1")):
            with self.subTest(index=index, size=size), self.assertRaises(Unreadable):
                root_of_inclusion(leaf, index=index, size=size, path=[])  # type: ignore[arg-type]


if __name__ == "__main__":
    unittest.main()
