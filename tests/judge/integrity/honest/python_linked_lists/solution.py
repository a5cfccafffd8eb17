def reverse(head):
    last = None
    while head:
        head.next, last, head = last, head, head.next
    return last


def depth(root):
    return 0 if root is None else 1 + max(depth(root.left), depth(root.right))


def mirrored(root):
    return root and TreeNode(root.val, mirrored(root.right), mirrored(root.left))
