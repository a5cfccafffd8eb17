"""How a program is built and started by a shell so that it finds the packages of its language. Pure: words in, a script out.

Each script runs in the working folder; the program's own files lie in a folder of their own, $RUN, which goes when it ends; $PKG
is where the packages are.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from sandbox_runtime.errors import InvalidRequest
from sandbox_runtime.languages.packages.package_manager import WORKSPACE
from sandbox_runtime.languages.packages.package_managers import CARGO_SETUP, GO_SETUP, find_package_manager

Options = Mapping[str, object]
_LOCK_WAIT_S = 300
_STALE_AFTER_MIN = 120
"""Longer than anything may run."""
_PUBLIC_CLASS = re.compile(r"\bpublic\s+(?:final\s+|abstract\s+)*class\s+(\w+)")
_SDK = 'SDK="$(dirname "$(command -v node)")/../../../csharp"'
_USINGS = "System System.IO System.Linq System.Collections.Generic System.Net.Http System.Threading System.Threading.Tasks"


@dataclass(frozen=True, slots=True)
class LaunchScript:
    """source: the name of the program's file in $RUN. setup and build may be empty. typed: as it would be typed, where that is
    not what build and start say."""

    source: str
    build: str
    start: str
    setup: str = ""
    command: str = ""

    @property
    def display(self) -> str:
        whole = f"{self.build} && {self.start}" if self.build else self.start
        return self.command or whole.replace("$RUN/", "").replace('"', "")

    def script(self, folder: str, run: str) -> str:
        build = f"{self.build} || exit\n" if self.build else ""
        setup = f"{self.setup}\n" if self.setup else ""
        # Of a server that died nobody is left to remove what a killed script left.
        old = f"find {WORKSPACE} -maxdepth 1 -name '.lang_exec_*' -mmin +{_STALE_AFTER_MIN} -exec rm -rf -- {{}} +\n"
        return (
            f"{old}RUN={shlex.quote(run)}\ntrap 'rm -rf -- \"$RUN\"' EXIT\ncd -- {shlex.quote(folder)} || exit\n"
            f"{setup}{build}{self.start}\n"
        )


def flags(options: Options, name: str) -> str:
    """Options as they would be typed, each quoted again: none of them can become a command."""
    value = options.get(name)
    try:
        words = value if isinstance(value, list) else shlex.split(str(value or ""))
    except ValueError as error:
        raise InvalidRequest(f"{name} cannot be split into words: {error}") from error
    return "".join(f" {shlex.quote(str(word))}" for word in words)


def word(options: Options, name: str, default: str = "") -> str:
    return shlex.quote(str(options.get(name) or default))


def is_on(options: Options, name: str) -> bool:
    return str(options.get(name, "")).lower() in ("true", "1", "yes")


def launch_script_for(language: str, options: Options, code: str) -> LaunchScript:
    """For languages whose kit has an own way."""
    kit = find_package_manager(language)
    public = _PUBLIC_CLASS.search(code) if language == "java" and not options.get("main_class") else None
    made = _BUILDERS[language]({**options, "main_class": public[1]} if public else options)
    return LaunchScript(made.source, made.build, made.start, f"PKG={kit.folder}\n{made.setup}", made.command)


def _go(options: Options) -> LaunchScript:
    build = f'cp "$PKG"/module/go.* "$RUN/" && go build -C "$RUN"{flags(options, "build_flags")} -o "$RUN/main" main.go'
    return LaunchScript("main.go", build, '"$RUN/main"', GO_SETUP, "go run main.go")


def _rust(options: Options) -> LaunchScript:
    """One at a time is built, in the one project whose packages are built already."""
    features = options.get("features")
    named = [f'feature="{word}"' for word in features] if isinstance(features, list) else []
    cfg = "".join(f" --cfg {shlex.quote(word)}" for word in named)
    release, kind = (" --release", "release") if is_on(options, "release") else ("", "debug")
    edition = shlex.quote(f's/^edition = .*/edition = "{options.get("edition") or "2021"}"/')
    steps = (
        f"flock -w {_LOCK_WAIT_S} 9",
        'cp "$RUN/main.rs" "$PKG/project/src/main.rs"',
        f'sed -i {edition} "$PKG/project/Cargo.toml"',
        f'cargo rustc --quiet --offline --manifest-path "$PKG/project/Cargo.toml" --bin main{release} --{cfg}',
        f'mv "$PKG/target/{kind}/main" "$RUN/main"',
    )
    return LaunchScript("main.rs", f'( {" && ".join(steps)} ) 9>"$PKG/.lock"', '"$RUN/main"', CARGO_SETUP, f"cargo run{release}")


def _java(options: Options) -> LaunchScript:
    name = str(options.get("main_class") or "Main")
    more = str(options.get("classpath") or "").replace('"', "").replace("`", "").replace("$(", "(")
    path = f'"$RUN:$PKG/*{":" + more if more else ""}"'
    build = f'javac -cp {path} -d "$RUN" "$RUN"/*.java'
    return LaunchScript(f"{name}.java", build, f"java -cp {path} {shlex.quote(name)}", "", f"javac {name}.java && java {name}")


def _csharp(options: Options) -> LaunchScript:
    """What the language's own script does, and the packages' libraries beside the program."""
    usings = " ".join(f"using {word};" for word in _USINGS.split())
    setup = "\n".join(
        (
            _SDK,
            '[ -d "$SDK" ] || { echo ".NET is not installed: sandbox languages install csharp" >&2; exit 69; }',
            'DOTNET="$(echo "$SDK"/node_modules/dotnet-sdk-*/dotnet)"',
            'export LD_LIBRARY_PATH="$SDK/openssl" DOTNET_SYSTEM_GLOBALIZATION_INVARIANT=1 COMPlus_EnableDiagnostics=0',
        )
    )
    steps = (
        f'{{ printf \'%s\\n#line 1 "Program.cs"\\n\' {shlex.quote(usings)}; cat "$RUN/Program.cs"; }} >"$RUN/Whole.cs"',
        'cp "$PKG"/*.dll "$SDK/Program.runtimeconfig.json" "$RUN/"',
        '"$DOTNET" exec "$(echo "$(dirname "$DOTNET")"/sdk/*/Roslyn/bincore/csc.dll)" -nologo -langversion:preview -utf8output '
        '-warn:1 -nowarn:CS0105,CS1701,CS8019 "@$SDK/references.rsp" $(printf -- "-r:%s " "$PKG"/*.dll) '
        '"-out:$RUN/Program.dll" "$RUN/Whole.cs" >&2',
    )
    return LaunchScript("Program.cs", " && ".join(steps), '"$DOTNET" exec "$RUN/Program.dll"', setup, "dotnet run")


_BUILDERS: Mapping[str, Callable[[Options], LaunchScript]] = {"go": _go, "rust": _rust, "java": _java, "csharp": _csharp}
