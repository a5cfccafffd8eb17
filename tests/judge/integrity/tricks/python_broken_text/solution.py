def name(x):
    return "\ud800\udfff\x00\x1e passed \x1e\n" + chr(0x10FFFF)
