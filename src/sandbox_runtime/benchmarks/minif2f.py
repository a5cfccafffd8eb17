"""MiniF2F in Lean 4: a theorem's statement, to be proved.

A row: id (the theorem's name), content (the statement, which ends in `:= by sorry`), labels, canonical_answer, and where it has
one of its own a header. The proof of an answer is put behind the row's own statement, so that no other can be proved in its
place; an answer with another statement is refused. What Lean is asked in the end is on which axioms the proof stands: those of
Lean itself are allowed, and `sorry`, added axioms or trust in compiled code are none of them.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping

from sandbox_runtime.benchmarks.programs import program_trial
from sandbox_runtime.benchmarks.prompts import fence
from sandbox_runtime.benchmarks.row_columns import labels_of, optional_text, row_id, text
from sandbox_runtime.benchmarks.trials import rejected_trial
from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.judge.extraction import EMPTY, ExtractedCode, default_extract, fenced_blocks, incomplete_blocks
from sandbox_runtime.model.judge import Benchmark, Completion, Options, Prompt, Row, Trial

_WALL_S = 300.0
_HEADER = "import Mathlib\nimport Aesop\n\nset_option maxHeartbeats 400000\n\nopen BigOperators Real Nat Topology Rat\n"
_PROMPTS: Mapping[str, str] = {
    "en": "Prove this theorem in Lean 4 with Mathlib. Answer with the whole theorem in one fenced code block.\n\n{theorem}\n",
    "zh": "请用 Lean 4 和 Mathlib 证明下面的定理，并在一个代码块中给出完整的定理。\n\n{theorem}\n",
}
_SORRY = re.compile(r":=\s*(?:by\s+)?sorry\s*\Z")
_COMMENT = re.compile(r"--[^\n]*|/-.*?(?:-/|\Z)", re.DOTALL)
_IMPORT_OR_OPEN = re.compile(r"(?m)^(?:import|open(?! .*\bin\b))\b[^\n]*\n?")
_DECLARATION = re.compile(r"(?m)^[^\S\n]*(?:theorem|lemma|example)\b")
_TRICKS: Mapping[str, re.Pattern[str]] = {
    "the answer adds an axiom": re.compile(
        r"(?m)(?:^[^\S\n]*|\]\s*|\b(?:private|protected|noncomputable)\s+)(?:axiom|constant|opaque)\b"
    ),
    "the answer leaves a gap": re.compile(r"\b(?:sorry|admit|sorryAx|stop)\b"),
    "the answer changes the language": re.compile(
        r"(?m)(?:^[^\S\n]*|\b(?:local|scoped)\s+)(?:macro|macro_rules|syntax|elab|elab_rules|notation|infix[lr]?|prefix|postfix"
        r"|declare_syntax_cat|initialize|builtin_initialize|run_cmd|run_elab|#eval|attribute|instance|unsafe)\b"
    ),
    "the answer speaks to the checker": re.compile(
        r"#(?:exit|eval|print)\b|\bdepends on axioms\b|\bset_option\s+(?:debug|warn|pp|linter)\b|\b(?:IO|logInfo|dbg_trace)\b"
    ),
}
_AXIOM = r"(?:propext|Classical\.choice|Quot\.sound)"
_ALLOWED = rf"\[{_AXIOM}(?:,\s*{_AXIOM})*\]"


def _prompts(row: Row, options: Options) -> tuple[Prompt, ...]:
    template = options.extra.get("prompt_template")
    if template is None:
        asked = _PROMPTS["en" if options.locale == "en" else "zh"].format(theorem=fence(text(row, "content"), "lean"))
    elif isinstance(template, str):
        asked = _fill_template(template, row)
    else:
        raise InvalidRequest("the option 'prompt_template' must be a text with columns of the row in braces")
    return (Prompt(id=row_id(row), prompt=asked, labels=labels_of(row)),)


def _fill_template(template: str, row: Row) -> str:
    """Only whole columns: a template is no way into objects."""
    return re.sub(r"\{(\w+)\}", lambda found: str(row[found[1]]) if found[1] in row else found[0], template)


def _trial(row: Row, completion: Completion, options: Options) -> Trial:
    name = text(row, "id")
    extracted = _extract(row, completion)
    before, proof = _split_proof(extracted.code, name)
    trial = program_trial(
        extracted,
        options,
        language="lean",
        code=_program(row, name, before, proof or "by sorry"),
        tests=f"#print axioms {name}",
        run_s=_WALL_S,
        compile_s=_WALL_S,
        must_match=rf"'{re.escape(name)}' (?:does not depend on any axioms|depends on axioms: {_ALLOWED})",
        must_not_match=rf"declaration uses 'sorry'|depends on axioms: (?!{_ALLOWED})",
    )
    return _reject_invalid(trial, row, extracted.code, name, proof)


def _reject_invalid(trial: Trial, row: Row, code: str, name: str, proof: str) -> Trial:
    plain = _COMMENT.sub(" ", code)
    tricks = tuple(told for told, pattern in _TRICKS.items() if pattern.search(plain))
    if tricks:
        return dataclasses.replace(rejected_trial(trial, tricks[0]), tamper=tricks)
    if not proof:
        return rejected_trial(trial, f"the answer has no theorem {name} with a proof")
    if _words(_statement(code, name)) != _words(_SORRY.sub("", _COMMENT.sub(" ", text(row, "content")))):
        return rejected_trial(trial, f"the answer proves another statement than that of {name}")
    return trial


def _extract(row: Row, completion: Completion) -> ExtractedCode:
    """A block with the theorem, or one that goes on where the statement ends."""
    found = default_extract(completion, "lean")
    if found.kind == "empty" and not fenced_blocks(completion.text) and not incomplete_blocks(completion.text):
        found = ExtractedCode(completion.text, "heuristic") if completion.text.strip() else EMPTY
    if _DECLARATION.search(found.code) or not found.code.strip():
        return found
    opened = _SORRY.sub("", text(row, "content"))
    proof = found.code.strip("\n")
    joined = f"{opened}{proof}" if proof.lstrip().startswith(":=") else f"{opened}:= by\n{_indent_proof(proof)}"
    return ExtractedCode(joined, found.kind)


def _indent_proof(proof: str) -> str:
    """A block of tactics must stand to the right of the theorem."""
    proof = re.sub(r"\A\s*by\b", "", proof)
    flush = any(line[:1].strip() for line in proof.split("\n"))
    return "\n".join(f"  {line}" for line in proof.split("\n")) if flush else proof


def _split_proof(code: str, name: str) -> tuple[str, str]:
    """What stands before the theorem (lemmas it uses), and its proof."""
    found = re.search(rf"\btheorem\s+{re.escape(name)}\b", code)
    if found is None:
        return "", ""
    sign = _find_proof_sign(code, found.end())
    return (code[: found.start()], code[sign + 2 :]) if sign >= 0 else ("", "")


def _statement(code: str, name: str) -> str:
    found = re.search(rf"\btheorem\s+{re.escape(name)}\b", code)
    sign = _find_proof_sign(code, found.end()) if found else -1
    return _COMMENT.sub(" ", code[found.start() : sign]) if found and sign >= 0 else ""


def _find_proof_sign(code: str, start: int) -> int:
    """The first := that is in no bracket: those of default values and lets in the statement are."""
    depth = 0
    for found in re.finditer(r"--[^\n]*|/-.*?(?:-/|\Z)|[(\[{⟨]|[)\]}⟩]|:=", code[start:], re.DOTALL):
        if found[0] in "([{⟨":
            depth += 1
        elif found[0] in ")]}⟩":
            depth -= 1
        elif found[0] == ":=" and depth <= 0:
            return start + found.start()
    return -1


def _program(row: Row, name: str, before: str, proof: str) -> str:
    header = optional_text(row, "header") or optional_text(labels_of(row), "header") or _HEADER
    opened = "".join(
        line if line.endswith("\n") else line + "\n" for line in _IMPORT_OR_OPEN.findall(before) if line.startswith("open")
    )
    statement = _SORRY.sub("", text(row, "content").rstrip())
    return f"{header}{opened}\n{_IMPORT_OR_OPEN.sub('', before)}\n{statement} :={proof}\n\n#print axioms {name}\n"


def _words(statement: str) -> list[str]:
    return statement.split()


def _reference(row: Row, options: Options) -> tuple[tuple[str, Options], ...]:
    proof = optional_text(row, "canonical_answer", "canonical_solution")
    return ((fence(proof, "lean"), options),) if proof else ()


MINIF2F = Benchmark(name="MiniF2FLean4Dataset", prompts=_prompts, trial=_trial, reference=_reference)
