"""Code that runs outside the server: the spawner, and the processes of each box until one becomes the guest's program.

Theory of operation. Each process has fewer rights than its parent:

    server ──exec──▶ gate ──fork──▶ spawner ──┬─clone─▶ first process (only holds the pid namespace)   ┐ single-use
                                              ├─fork──▶ runner ──▶ the guest's program                 ┘ box
                                              └─fork──▶ init (pid 1) ──fork──▶ runner ──▶ the guest's program, …   reusable box

- gate: started by execve with one socket and nothing else. As a plain user it joins the user namespace that all spawners share
  (see below). Then it creates a pid namespace, forks the spawner into it and waits. When the server's end of the socket closes,
  for whatever reason, it kills the spawner, and the kernel kills everything below it.
- spawner: single-threaded, pid 1 of that namespace, in a mount namespace pivoted to a read-only root, with the modules of one
  preset loaded. It reads requests to open boxes and forks. No guest data ever passes through it, so a box cannot find data of
  another box in the memory it was forked with. It is the parent of single-use boxes: when the program has ended, it kills the
  first process and thereby everything left in the box, and reports to the server how the program ended. Its very first box runs
  a sample program to learn which memory pages programs write to (warm_pages.py).
- init: only in reusable boxes. Applies the layers of the box in order (namespaces, mounts, network, user, capabilities), forks a
  runner for each command, kills and reaps what the command leaves behind, and reports. It is not dumpable, has no capabilities
  and takes messages only from the server.
- runner: in a single-use box it applies the layers itself. Then it waits with limits and seccomp filter in place for one order
  (argv, environment, limits and three descriptors), closes all other descriptors and becomes the program: by execve or, if the
  command is the warm interpreter's own `python FILE`, by running the file in place.

The spawners of a plain user share one user namespace, because a box of one spawner may have to use files that another spawner
created: entering a mount namespace needs capabilities in the user namespace that owns it. The first gate creates the user
namespace. Its spawner sends the server a descriptor of it, which keeps the namespace alive even if that spawner dies. Later
gates receive the descriptor with their configuration and enter it first, which the kernel allows to the user who created it.
This does not widen what a box can reach: boxes of one spawner always had a common owner above them, and each box still enters
its own user namespace below it, without capabilities and without a way back, and sees only its own processes and mounts.
Spawners of boxes that lack a layer, as tests open them, stay separate: such a box may keep capabilities over the user namespace
that it was forked in.

Two sockets connect the server to each box: `orders` (to the runner) and `reports` (from init, or from the spawner for
single-use boxes). Each message is one packet that may carry descriptors. The server answers and counts the system calls that
the filter refuses. Standard library only; runs under the guest's interpreter.
"""
