import logging

logging.info("not shown")
logging.warning("shown %s", "plainly")
logging.basicConfig(level=logging.INFO)
logging.info("shown now")
print(logging.getLevelName(logging.root.level), logging.root.handlers)
