"""What boxes see of the host: programs and libraries, read-only, and the files of /etc that hold nothing private."""

from __future__ import annotations

import glob
import os
import stat
from collections.abc import Iterable

from sandbox_runtime.isolation.guest_interpreter import HOME, WRITABLE

SYSTEM_FOLDERS = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
ETC_FILES = (
    "alternatives",
    "bash.bashrc",
    "ca-certificates",
    "ca-certificates.conf",
    "fonts",
    "inputrc",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "localtime",
    "magic",
    "mime.types",
    "profile",
    "protocols",
    "services",
    "ssl/certs",
    "ssl/openssl.cnf",
    "terminfo",
    "timezone",
)
GENERATED_FILES = {
    "/etc/passwd": "root:x:0:0:root:/root:/usr/sbin/nologin\n"
    f"sandbox:x:1000:1000:sandbox:{HOME}:/bin/bash\n"
    "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n",
    "/etc/group": "root:x:0:\nsandbox:x:1000:\nnogroup:x:65534:\n",
    "/etc/hosts": "127.0.0.1 localhost sandbox\n::1 localhost ip6-localhost\n",
    "/etc/hostname": "sandbox\n",
    "/etc/nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\nservices: files\nprotocols: files\n",
    "/etc/resolv.conf": "",
}

NO_GPU = "this machine has no GPU: neither /dev/nvidia* nor /dev/dri/render* exists"

Entry = dict[str, str]


def entries(prefixes: Iterable[str]) -> list[Entry]:
    """Return the entries of an ordinary box, in the format of mounts.build_root."""
    found = [_folder(path) for path in SYSTEM_FOLDERS if os.path.lexists(path)]
    found += [_tree(path) for path in outermost(prefixes)]
    found += [
        {"kind": "copy", "source": f"/etc/{name}", "target": f"/etc/{name}"}
        for name in ETC_FILES
        if os.path.exists(f"/etc/{name}")
    ]
    found += [{"kind": "text", "text": text, "target": path} for path, text in GENERATED_FILES.items()]
    return found + _mounted_below(found)


def toolchains(folder: str, prefixes: Iterable[str]) -> list[Entry]:
    """Return an entry for the folder of toolchains, unless it is missing or visible anyway."""
    seen = outermost(prefixes)
    return [_tree(path) for path in outermost([*seen, folder]) if path not in seen] if os.path.isdir(folder) else []


def whole_machine(prefixes: Iterable[str]) -> list[Entry]:
    """Return what a box sees if the root layer is off; used to test that layer.

    Everything of the host except folders that each box has for itself, plus the guest interpreter if it is in one of those.
    """
    own = {"proc", "sys", "dev", *(path.split("/")[1] for path in WRITABLE)} - {"var"}
    names = [name for name in sorted(os.listdir("/")) if name not in own and os.path.isdir(f"/{name}")]
    guest = [path for path in outermost(prefixes) if path.split("/")[1] in own]
    return [_folder(f"/{name}") for name in names] + [_tree(path) for path in guest]


def gpu_devices() -> list[str]:
    """Return the names below /dev of the devices that GPU programs need; empty without a GPU."""
    names = [
        *glob.glob("nvidia*", root_dir="/dev"),
        *glob.glob("nvidia-caps/*", root_dir="/dev"),
        *glob.glob("dri/render*", root_dir="/dev"),
    ]
    return sorted(name for name in names if stat.S_ISCHR(os.stat(f"/dev/{name}").st_mode))


def trees(view: Iterable[Entry]) -> list[str]:
    return [entry["target"] for entry in view if entry["kind"] == "tree"]


def outermost(prefixes: Iterable[str]) -> list[str]:
    """Drop paths that are inside system folders or inside each other."""
    found: list[str] = []
    for path in sorted(os.path.normpath(path) for path in set(prefixes)):
        if not any(path == base or path.startswith(base + "/") for base in (*SYSTEM_FOLDERS, *found)):
            found.append(path)
    return found


def _mounted_below(found: Iterable[Entry]) -> list[Entry]:
    """Return entries for file systems mounted below a tree: an overlay shows only the file system it was made of."""
    sources = trees(found)
    with open("/proc/self/mounts", encoding="utf-8") as file:
        places = {line.split()[1].encode().decode("unicode_escape") for line in file}
    return [_tree(place) for place in sorted(places) if any(place.startswith(source + "/") for source in sources)]


def _folder(path: str) -> Entry:
    if os.path.islink(path):
        return {"kind": "link", "source": os.readlink(path), "target": path}
    return _tree(path)


def _tree(path: str) -> Entry:
    return {"kind": "tree", "source": path, "target": path}
