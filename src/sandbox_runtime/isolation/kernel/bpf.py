"""Build classic BPF programs for seccomp from blocks.

A block is a sequence of instructions that always ends in a return; execution never runs past its end. So blocks are combined by
choosing between them, and no labels are needed: a jump skips exactly the length of the block that follows it.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

Instruction = tuple[int, int, int, int]
"""Opcode, jump if true, jump if false, operand."""
Block = tuple[Instruction, ...]

_LOAD_WORD = 0x20
_AND = 0x54
_JUMP = 0x05
_JUMP_EQUAL = 0x15
_JUMP_AT_LEAST = 0x35
_RETURN = 0x06
_MAX_SHORT_JUMP = 255
_WHOLE_WORD = 0xFFFFFFFF


def load(offset: int, then: Block) -> Block:
    """Load a 32-bit word of the filter's input into the accumulator, then run `then`."""
    return ((_LOAD_WORD, 0, 0, offset), *then)


def mask(bits: int, then: Block) -> Block:
    return then if bits == _WHOLE_WORD else ((_AND, 0, 0, bits), *then)


def ret(verdict: int) -> Block:
    return ((_RETURN, 0, 0, verdict),)


def if_any(values: Sequence[int], then: Block, otherwise: Block) -> Block:
    """Run `then` if the accumulator is one of the values."""
    _require_short(then)
    last = len(values) - 1
    tests = [(_JUMP_EQUAL, last - index, 0, value) for index, value in enumerate(values[:-1])]
    return (*tests, (_JUMP_EQUAL, 0, len(then), values[-1]), *then, *otherwise)


def unless(value: int, then: Block, otherwise: Block) -> Block:
    """Run `then` if the accumulator is not this value. `otherwise` may have any length."""
    _require_short(then)
    return ((_JUMP_EQUAL, len(then), 0, value), *then, *otherwise)


def if_at_least(value: int, then: Block, otherwise: Block) -> Block:
    """Run `then` if the accumulator, as an unsigned number, is at least the value. `otherwise` may have any length."""
    if len(otherwise) <= _MAX_SHORT_JUMP:
        return ((_JUMP_AT_LEAST, len(otherwise), 0, value), *otherwise, *then)
    return ((_JUMP_AT_LEAST, 0, 1, value), (_JUMP, 0, 0, len(otherwise)), *otherwise, *then)


def search(ranges: Sequence[tuple[int, Block]]) -> Block:
    """Binary search: each block handles the values from its first one up to the next block's first one."""
    if len(ranges) == 1:
        return ranges[0][1]
    middle = len(ranges) // 2
    return if_at_least(ranges[middle][0], then=search(ranges[middle:]), otherwise=search(ranges[:middle]))


def _require_short(block: Block) -> None:
    if len(block) > _MAX_SHORT_JUMP:
        raise ValueError(f"a block of {len(block)} instructions is too long for a short jump")


def pack(block: Block) -> bytes:
    """Return the program as an array of struct sock_filter."""
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in block)
