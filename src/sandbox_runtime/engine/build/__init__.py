"""The build cache: results of compile steps, kept for later jobs with exactly the same inputs.

Contract: `BuildCache.key` derives the key from everything that goes into a build; `find(key)` returns the build or None;
`keep(key, build)` stores it. Nothing here runs programs, and nothing here fails a job: an unreadable entry is a miss, an
unwritable one is not stored.

Why one guest cannot make another guest run its code. Only the server writes entries, into a folder that no box sees and no
other user can enter. The server computes the key from what it staged: bytes and names of all files, the command, its
environment and limits, the toolchain. It reads the content from a box in which only that command ran on only those files, after
all its processes are dead and before anything else starts there. So a job that finds an entry has sent the same files for the
same command, and gets what that command produced. A hostile compile step can choose the content of its own entry, as it can
choose what its own run sees; but to receive it, a job must submit the same hostile files. Nothing is stored for a step that
failed, that had a network, that ran in a backend that does not hide the machine's files, or that left anything but regular
files. Entries carry a digest, which is checked on every read.
"""

from sandbox_runtime.engine.build.cache import BuildCache, open_build_cache

__all__ = ["BuildCache", "open_build_cache"]
