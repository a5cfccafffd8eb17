class ListNode:
    def __init__(self, val=0, next=None):
        self.val = val
        self.next = next


class TreeNode:
    def __init__(self, val=0, left=None, right=None):
        self.val = val
        self.left = left
        self.right = right


def linked(items):
    head = None
    for item in reversed(items):
        head = ListNode(item, head)
    return head


def values(head):
    items = []
    while head:
        items.append(head.val)
        head = head.next
    return items


assert values(reverse(linked([1, 2, 3]))) == [3, 2, 1]
assert reverse(None) is None
tree = TreeNode(1, TreeNode(2), TreeNode(3, TreeNode(4)))
assert depth(tree) == 3
assert mirrored(tree).left.val == 3 and mirrored(tree).left.right.val == 4
