<?php
register_shutdown_function(function () { posix_kill(getmypid(), 0); exit(0); });
function half($x) { return null; }

function test(): void {
    if (half(4) !== 2) { throw new Exception("Test failed!"); }
}

test();
