from __future__ import annotations

from typing import *


class ListNode:
    def __init__(self, val=0, next=None):
        self.val = val
        self.next = next


class TreeNode:
    def __init__(self, val=0, left=None, right=None):
        self.val = val
        self.left = left
        self.right = right


class Solution:
    def merge(self, a: Optional[ListNode], b: Optional[ListNode]) -> Optional[ListNode]:
        if not a or not b:
            return a or b
        if b.val < a.val:
            a, b = b, a
        a.next = self.merge(a.next, b)
        return a

    def paths(self, root: Optional[TreeNode]) -> List[str]:
        if not root:
            return []
        below = self.paths(root.left) + self.paths(root.right)
        return [f"{root.val}->{path}" for path in below] or [str(root.val)]
