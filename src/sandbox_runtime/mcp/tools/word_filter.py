"""The word filter of run_code, by validation_level. It discourages commands that make no sense in a sandbox. It is not a security
boundary: the box decides what a program may do."""

from __future__ import annotations

import re

from sandbox_runtime.errors import InvalidRequest

_MODERATE = (
    (r"\brm\s+(-\w{0,40}\s{1,9}){0,9}-\w{0,40}[rR]\w{0,40}\s+(-\w{1,40}\s{1,9}){0,9}/(\s|$|\*)", "deletes the root folder"),
    (r":\s*\(\s*\)\s*\{\s*:\s*\|\s*:\s*&\s*\}\s*;\s*:", "is a fork bomb"),
    (r"\bmkfs(\.\w+)?\b", "makes a file system"),
    (r"\bfdisk\b", "partitions a disk"),
    (r"\bdd\s+if=", "copies devices"),
    (r">\s*/dev/(sd|hd|nvme|vd|mem)", "writes to a device"),
)
_STRICT = (
    (r"\bchmod\s+(-\w{1,40}\s{1,9}){0,9}0?777\b", "opens files to everyone (chmod 777)"),
    (r"\bchown\b", "changes owners (chown)"),
    (r"\bpasswd\b", "changes passwords (passwd)"),
    (r"(^|[\s;&|`(])su(\s|$)", "changes the user (su)"),
    (r"\bsudo\b", "requests privileges (sudo)"),
    (r"/etc/", "reads or writes /etc/"),
    (r">\s*/dev/(?!null|stdout|stderr|tty|fd)", "writes to /dev"),
    (r"\bcurl\b", "fetches from the network (curl)"),
    (r"\bwget\b", "fetches from the network (wget)"),
    (r"(^|[\s;&|`(])nc(\s|$)", "opens connections (nc)"),
    (r"\bnetcat\b", "opens connections (netcat)"),
)
_PATTERNS = {"strict": (*_MODERATE, *_STRICT), "moderate": _MODERATE, "permissive": ()}


def check_words(code: str, level: str) -> None:
    for words, meaning in _PATTERNS[level]:
        if re.search(words, code, re.MULTILINE):
            raise InvalidRequest(
                f"the code {meaning}, which the filter refuses at validation_level {level}; to allow it, set "
                "tools.validation_level to permissive"
            )
