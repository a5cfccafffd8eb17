#!/usr/bin/env bash
# Prepares the start of Scala: the options of Java for the compiler and for programs, in FOLDER/compiler.options and
# FOLDER/program.options, and the classes that a compilation uses, ready to be mapped, in FOLDER/scalac.jsa. It then takes half
# the time.
# usage: install.sh JAVA LIBRARIES FOLDER SOURCE
set -euo pipefail
java=$1 libraries=$2 folder=$3 source=$4

# Newer JDKs warn of what the library does, unless told not to; older ones do not know the option.
allowed() {
    local option=--sun-misc-unsafe-memory-access=allow
    if "$java" "$option" -version >/dev/null 2>&1; then echo "$option"; fi
}

class_path() {
    local name path=
    for name in scala-compiler scala-library scala-reflect scala-xml scala-parser-combinators; do
        path+=${path:+:}$libraries/$name.jar
    done
    echo "$path"
}

quoted() { printf '"%s"\n' "${1//\\/\\\\}"; }

{ allowed; echo -XX:+UseSerialGC; } > "$folder/program.options"
{
    cat "$folder/program.options"
    printf '%s\n' -XX:TieredStopAtLevel=1 -Xss8m -Xlog:disable
    echo -cp; quoted "$(class_path)"
} > "$folder/compiler.options"
rm -f "$folder/scalac.jsa"
"$java" "-XX:ArchiveClassesAtExit=$folder/scalac.jsa" "@$folder/compiler.options" scala.tools.nsc.Main -usejavacp -d "$folder" "$source"
# An archive made by another JDK is passed over, and with the log off in silence.
quoted "-XX:SharedArchiveFile=$folder/scalac.jsa" >> "$folder/compiler.options"
