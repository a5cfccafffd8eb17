<?php
function half($x) { return intdiv($x, 2); }

function test(): void {
    if (half(4) !== 2) { throw new Exception("Test failed!"); }
}

test();
