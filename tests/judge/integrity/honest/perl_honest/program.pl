sub half { return $_[0] / 2; }

sub test {
    exit 1 unless half(4) == 2;
}

test();
