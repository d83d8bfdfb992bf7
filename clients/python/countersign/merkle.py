"""Merkle trees as RFC 9162 §2.1 (and RFC 6962 before it) hashes them: what an inclusion path and a consistency proof lead to."""

from __future__ import annotations

import hashlib
from typing import Any, Optional, Sequence

from .canonical import SAFE_INTEGER_MAX
from .instant import Unreadable


def leaf_hash(data: bytes) -> bytes:
    """SHA-256(0x00 || data), §2.1.1."""
    return hashlib.sha256(b"\0" + data).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """SHA-256(0x01 || left || right), §2.1.1: its first byte keeps a node from passing for a leaf."""
    return hashlib.sha256(b"\1" + left + right).digest()


def root_of_inclusion(leaf: bytes, *, index: int, size: int, path: Sequence[bytes]) -> bytes:
    """The root that a leaf's hash has in a tree of this size, §2.1.3.2. It proves nothing until it is compared with a root that is
    trusted. ``path`` is from the leaf up.

    Raises Unreadable where index and size are no integers with 0 <= index < size, where the path is not exactly as long as they make
    it, or where a hash has not 32 bytes.
    """
    if not _is_integer(size) or size < 1:
        raise Unreadable("the size is not an integer of 1 or more")
    if not _is_integer(index) or index < 0:
        raise Unreadable("the index is not an integer of 0 or more")
    if index >= size:
        raise Unreadable(f"the index {index} is not below the size {size}")
    _require_hash(leaf, "the leaf hash")
    _require_hashes(path)
    # Where the node on the way to the root stands in its level, and where the last of that level does.
    position, last = index, size - 1
    node = leaf
    for sibling in path:
        if last == 0:
            raise Unreadable("the path is too long for the index and the size")
        if position & 1 or position == last:
            node = node_hash(sibling, node)
            # A last node without a sibling stands in the levels above unchanged, up to where it is a right child.
            while not position & 1:
                position, last = position >> 1, last >> 1
        else:
            node = node_hash(node, sibling)
        position, last = position >> 1, last >> 1
    if last != 0:
        raise Unreadable("the path is too short for the index and the size")
    return node


def require_consistent(
    *, end: int, size: int, part_root: bytes, root: bytes, path: Sequence[bytes], start: int = 0
) -> None:
    """Checks that the tree of ``size`` leaves with ``root`` holds the earlier tree of ``end`` leaves with ``part_root``, §2.1.4.2.
    With a ``start`` the part is the subtree from there (draft-ietf-plants-merkle-tree-certs §4.4.3).

    Raises Unreadable that says why it does not: the part is no subtree or ends after the tree, the path is not exactly as long as they
    make it, a hash has not 32 bytes, or the path leads to another root.
    """
    _require_subtree(start, end)
    if not _is_integer(size) or end > size:
        raise Unreadable(f"the part ends at {end}, after the tree of size {size}")
    _require_hash(part_root, "the root of the part")
    _require_hash(root, "the root of the tree")
    _require_hashes(path)
    # Where the first and last node over the part and the last of the tree stand in their level.
    first, last, tree_last = start, end - 1, size - 1
    # Up to the largest complete subtree at the end of the part: from there the proof goes on.
    while first != last and (last & 1 or end == size):
        first, last, tree_last = first >> 1, last >> 1, tree_last >> 1
    # The part is that subtree itself, or its hash comes first in the path.
    rest = list(path)
    if first == last:
        of_part = of_tree = part_root
    elif rest:
        of_part = of_tree = rest.pop(0)
    else:
        raise Unreadable("the path is too short for the part and the size")
    for sibling in rest:
        if tree_last == 0:
            raise Unreadable("the path is too long for the part and the size")
        if last & 1 or last == tree_last:
            if first < last:
                of_part = node_hash(sibling, of_part)
            of_tree = node_hash(sibling, of_tree)
            # A last node without a sibling stands in the levels above unchanged.
            while not last & 1:
                first, last, tree_last = first >> 1, last >> 1, tree_last >> 1
        else:
            of_tree = node_hash(of_tree, sibling)
        first, last, tree_last = first >> 1, last >> 1, tree_last >> 1
    if tree_last != 0:
        raise Unreadable("the path is too short for the part and the size")
    if of_part != part_root:
        raise Unreadable("the path does not lead to the root of the part")
    if of_tree != root:
        raise Unreadable("the path does not lead to the root of the tree")


def root_of_subtree_inclusion(leaf: bytes, *, start: int, end: int, index: int, path: Sequence[bytes]) -> bytes:
    """As ``root_of_inclusion``, in the subtree from ``start`` to ``end``; ``index`` counts from the first leaf of the log, as they do.

    Raises Unreadable where the range is no subtree, or does not hold the index, too.
    """
    _require_subtree(start, end)
    if not _is_integer(index) or not start <= index < end:
        raise Unreadable(f"the index {index} is not in the subtree from {start} to {end}")
    return root_of_inclusion(leaf, index=index - start, size=end - start, path=path)


def _require_subtree(start: int, end: int) -> None:
    if not _is_integer(start) or not _is_integer(end) or not 0 <= start < end:
        raise Unreadable("a subtree has a start of 0 or more and a greater end, both integers")
    # It begins at a multiple of its size rounded up to a power of two (draft-ietf-plants-merkle-tree-certs §4.1).
    if start % (1 << (end - start - 1).bit_length()) != 0:
        raise Unreadable(f"the leaves from {start} to {end} are no subtree")


def _is_integer(value: Any) -> bool:
    """Returns whether it is an integer that every reader of JSON tells from the next."""
    return isinstance(value, int) and not isinstance(value, bool) and abs(value) <= SAFE_INTEGER_MAX


def _require_hashes(path: Sequence[bytes]) -> None:
    for i, one in enumerate(path):
        _require_hash(one, "path hash", i)


def _require_hash(value: bytes, name: str, index: Optional[int] = None) -> None:
    if len(value) != 32:
        which = name if index is None else f"{name} {index}"
        raise Unreadable(f"{which} has {len(value)} bytes; a hash has 32")
