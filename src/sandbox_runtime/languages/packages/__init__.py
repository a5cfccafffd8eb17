"""Packages of languages, installed by their own clients: what may be asked for, and the scripts that do it.

Contract: pure. A Kit is one package client: which languages it serves, what a requirement of it looks like, and a script for a
shell in a box. Whoever runs that script gives it a network, a time and the files of the box. Packages lie in a folder of the
home, so that they stay for what runs there later; which ones there are stands, a line each, in a small file of the workspace
(Kit.listing), by which it is also known that there are any. Programs of some languages find them by themselves; for the others
`starting` has the lines that build and start them. Names come from outside: none of them can become a flag, a path or an address.
The folder `inside` holds programs for boxes: they import nothing of ours.

Registries are those that the clients know by themselves; that of Java is the one that Maven knows. Variables of the box name
others: npm_config_registry, GOPROXY and GOSUMDB, CRATES_INDEX, MAVEN_REPOSITORY. That of C# must be named: NUGET_SOURCE.
"""

from sandbox_runtime.languages.packages.kit import WORKSPACE, Kit, listed, said
from sandbox_runtime.languages.packages.kits import KITS, kit_of
from sandbox_runtime.languages.packages.launch_script import Line, line_with_packages

__all__ = ["KITS", "WORKSPACE", "Kit", "Line", "kit_of", "line_with_packages", "listed", "said"]
