"""Packages of languages, installed by their own clients: which requirements are allowed, and the scripts that install them.

Contract: pure. A PackageManager describes one client: its languages, the form of a requirement, and a shell script for a box.
The caller provides network, time and the files of the box. Packages lie in a folder of the home directory, so that later programs
find them. A small file in the workspace (PackageManager.listing) lists them, one per line; if it exists, packages are installed.
Programs of some languages find their packages without help; for the others launch_script_for() returns the script that builds and
starts a program. Names come from outside: none of them can become a flag, a path or an address. The folder `inside` holds
programs that run in boxes and import nothing from this package.

Registries are the defaults of the clients; for Java, the default of Maven. Variables of the box select others:
npm_config_registry, GOPROXY and GOSUMDB, CRATES_INDEX, MAVEN_REPOSITORY. For C# NUGET_SOURCE is required.
"""

from sandbox_runtime.languages.packages.launch_script import LaunchScript, launch_script_for
from sandbox_runtime.languages.packages.package_manager import WORKSPACE, PackageManager, install_error, parse_listing
from sandbox_runtime.languages.packages.package_managers import PACKAGE_MANAGERS, find_package_manager

__all__ = [
    "PACKAGE_MANAGERS",
    "WORKSPACE",
    "LaunchScript",
    "PackageManager",
    "find_package_manager",
    "install_error",
    "launch_script_for",
    "parse_listing",
]
