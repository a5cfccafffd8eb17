"""Which languages are tested: those that SANDBOX_TESTED_LANGUAGES names, "all" for every one; else what `make test` installs."""

from __future__ import annotations

import os

import pytest

ALL = "all"
USUAL = (
    "python pytest bash cpp c nodejs typescript jest go go_test java junit rust php perl ruby lua R sql verilog D_ut scala "
    "kotlin_script csharp racket"
)


def skip_unless_chosen(language: str, usual: str = USUAL) -> None:
    asked = (os.environ.get("SANDBOX_TESTED_LANGUAGES") or usual).replace(",", " ").split()
    if language not in asked and ALL not in asked:
        pytest.skip(f"{language} is tested by `make test-languages`")
