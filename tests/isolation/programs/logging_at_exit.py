import logging
import logging.handlers

memory = logging.handlers.MemoryHandler(100, target=logging.StreamHandler())
memory.setFormatter(logging.Formatter("%(name)s %(filename)s %(funcName)s %(process)d"))
memory.target.setFormatter(logging.Formatter("%(levelname)s %(filename)s:%(lineno)d %(funcName)s %(message)s"))
logging.getLogger().addHandler(memory)
logging.warning("kept until the exit")
logging.getLogger("child").error("second")
try:
    1 / 0  # noqa: B018
except ZeroDivisionError:
    logging.exception("with a traceback")
logging.error("badly formed %d", "text")
