#!/usr/bin/env bash
# Prepares the start of Kotlin scripts: the options of Java in FOLDER/java.options, and the classes that a script and its
# compilation use, ready to be mapped, in FOLDER/script.jsa. The first line of a script is then out in half the time.
# usage: install.sh JAVA FOLDER SCRIPT
set -euo pipefail
java=$1 folder=$2 script=$3
home=$folder/node_modules/kotlin-compiler
options=$folder/java.options

# Newer JDKs warn of what the compiler does on every start, unless told not to; older ones do not know the option.
allowed() {
    local option
    for option in --enable-native-access=ALL-UNNAMED --sun-misc-unsafe-memory-access=allow; do
        if "$java" "$option" -version >/dev/null 2>&1; then echo "$option"; fi
    done
}

# The archive may be missing or made by another JDK: it is then passed over, and with the log off in silence.
quoted() { printf '"%s"\n' "${1//\\/\\\\}"; }
{
    allowed
    printf '%s\n' -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xlog:disable
    quoted "-XX:SharedArchiveFile=$folder/script.jsa"
    echo -cp; quoted "$home/lib/kotlin-compiler.jar"
    echo org.jetbrains.kotlin.cli.jvm.K2JVMCompiler
    echo -kotlin-home; quoted "$home"
} > "$options"
rm -f "$folder/script.jsa"
grep -v SharedArchiveFile "$options" > "$options.first"
"$java" "-XX:ArchiveClassesAtExit=$folder/script.jsa" "@$options.first" -script "$script" </dev/null
rm "$options.first"
