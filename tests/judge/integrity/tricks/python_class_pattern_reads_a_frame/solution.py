from collections.abc import Generator


def half(x):
    def look():
        yield from own

    own = (0 for _ in ())
    running = look()
    match running:
        case Generator(gi_frame=frame):
            match frame:
                case object(f_globals=names):
                    return names["WANTED"]
