def linked(items):
    first = last = ListNode()
    for item in items:
        last.next = ListNode(item)
        last = last.next
    return first.next


def values(head):
    return [head.val, *values(head.next)] if head else []


def check(candidate):
    assert values(candidate(linked([1, 3]), linked([2, 4]))) == [1, 2, 3, 4]
    assert candidate(None, None) is None


check(Solution().merge)
assert Solution().paths(TreeNode(1, TreeNode(2), TreeNode(3))) == ["1->2", "1->3"]
