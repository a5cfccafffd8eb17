"""The build cache: what a compile step made, kept for the next job that asks for exactly the same.

Contract: Builds.key(…) names a build by everything that went into it; find(key) gives it back or None; keep(key, build)
remembers it. Nothing here runs anything, and nothing here ever fails a job: what cannot be read is a miss, what cannot be
written is not kept.

Why a guest cannot make another guest run what it wants. An entry is written by the server alone, into a folder that no box sees
and no other user may enter, under a name that the server works out itself from what it staged: the bytes and names of all
files, the command, its environment and limits, the toolchain. Its content is read by the server out of a box in which nothing
but that one command ran on nothing but those files, after every process of it was dead and before anything else was started
there. So whoever finds the entry has sent the same files for the same command, and gets what that command made of them. A
hostile compile step can choose what its own entry holds, as it can choose what it leaves to its own run; but to be given that,
one must submit the hostile files. Nothing is kept of a step that failed, that ran with a network, or in a backend that does not
hide the machine's files; nor when anything but plain files was left. Entries carry a digest and are checked whenever they are
read.
"""

from sandbox_runtime.engine.build.cache import BuildCache, open_build_cache

__all__ = ["BuildCache", "open_build_cache"]
