"""Small starter programs, one per language."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

STARTERS: Mapping[str, str] = MappingProxyType(
    {
        "python": "import sys\n\nfor line in sys.stdin:\n    print(line.strip()[::-1])\n",
        "javascript": 'const lines = require("fs").readFileSync(0, "utf8").split("\\n");\nconsole.log(lines.length);\n',
        "typescript": 'const greet = (name: string): string => `Hello, ${name}`;\nconsole.log(greet("world"));\n',
        "go": 'package main\n\nimport "fmt"\n\nfunc main() {\n\tfmt.Println("Hello")\n}\n',
        "rust": 'fn main() {\n    println!("Hello");\n}\n',
        "java": 'public class Main {\n  public static void main(String[] words) {\n    System.out.println("Hello");\n  }\n}\n',
        "cpp": '#include <iostream>\n\nint main() {\n    std::cout << "Hello\\n";\n}\n',
        "csharp": 'class Program\n{\n    static void Main() => Console.WriteLine("Hello");\n}\n',
        "shell": "#!/bin/bash\nset -euo pipefail\necho Hello\n",
    }
)
