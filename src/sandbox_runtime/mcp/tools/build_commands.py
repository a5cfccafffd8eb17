"""Shell commands that build and start a program with compiler options or in another working folder, per language.

Each script runs in the working folder. The program's own files are in a separate folder, $RUN, removed when it ends.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping

from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.languages.packages.launch_script import LaunchScript, Options, flags, is_on, word

_TSC = '"$(dirname "$(command -v node)")/../../node_modules/typescript/bin/tsc"'


def launch_line(language: str, options: Options) -> LaunchScript:
    try:
        return _LAUNCHERS[language](options)
    except KeyError:
        raise InvalidRequest(f"{language} programs run in /workspace only; omit working_dir") from None


def _python(options: Options) -> LaunchScript:
    start = f'{word(options, "python_cmd", "python3")} "$RUN/main.py"'
    if is_on(options, "use_venv"):
        return LaunchScript("main.py", 'python3 -m venv "$RUN/venv"', '"$RUN/venv/bin/python" "$RUN/main.py"')
    return LaunchScript("main.py", "", start)


def _javascript(options: Options) -> LaunchScript:
    return LaunchScript("main.js", "", 'node "$RUN/main.js"')


def _typescript(options: Options) -> LaunchScript:
    target = word(options, "target", "ES2020")
    build = f'node {_TSC} --target {target} --module commonjs --skipLibCheck --outDir "$RUN" "$RUN/main.ts"'
    return LaunchScript("main.ts", build, 'node "$RUN/main.js"')


def _go(options: Options) -> LaunchScript:
    return LaunchScript("main.go", "", f'go run{flags(options, "build_flags")} "$RUN/main.go"')


def _rust(options: Options) -> LaunchScript:
    features = options.get("features")
    names = features if isinstance(features, list) else []
    feature_flags = "".join(f" --cfg {shlex.quote(f'feature={chr(34)}{name}{chr(34)}')}" for name in names)
    level = " -O" if is_on(options, "release") else ""
    build = f'rustc --edition {word(options, "edition", "2021")}{level}{feature_flags} "$RUN/main.rs" -o "$RUN/main"'
    return LaunchScript("main.rs", build, '"$RUN/main"')


def _java(options: Options) -> LaunchScript:
    main = word(options, "main_class", "Main")
    path = f"$RUN:{options['classpath']}" if options.get("classpath") else "$RUN"
    quoted = '"' + path.replace('"', "").replace("`", "").replace("$(", "(") + '"'
    return LaunchScript(
        f"{options.get('main_class') or 'Main'}.java", f'javac -cp {quoted} -d "$RUN" "$RUN"/*.java', f"java -cp {quoted} {main}"
    )


def _cpp(options: Options) -> LaunchScript:
    compiler = word(options, "compiler", "g++")
    how = f"-std={word(options, 'std', 'c++17')} -{word(options, 'optimization', 'O2')}{flags(options, 'extra_flags')}"
    return LaunchScript("main.cpp", f'{compiler} {how} -I. "$RUN/main.cpp" -o "$RUN/main"', '"$RUN/main"')


def _c(options: Options) -> LaunchScript:
    return LaunchScript("main.c", 'gcc -I. "$RUN/main.c" -o "$RUN/main" -lm', '"$RUN/main"')


def _shell(options: Options) -> LaunchScript:
    return LaunchScript("main.sh", "", f'{word(options, "shell", "bash")}{flags(options, "set_flags")} "$RUN/main.sh"')


_LAUNCHERS: Mapping[str, Callable[[Options], LaunchScript]] = {
    "python": _python,
    "javascript": _javascript,
    "typescript": _typescript,
    "go": _go,
    "rust": _rust,
    "java": _java,
    "cpp": _cpp,
    "c": _c,
    "bash": _shell,
    "sh": lambda options: _shell({"shell": "sh", **options}),
    "shell": _shell,
}
