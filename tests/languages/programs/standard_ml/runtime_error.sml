raise Fail "boom";
