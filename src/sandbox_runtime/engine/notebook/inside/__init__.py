"""The program in the box that runs a notebook's cells in a real Jupyter kernel and reports on them. It does not know the package
in which it lies: in the box it has another name.

Theory of operation. Two processes, both in the box and both running as the guest's user:

    server ──stdin/stdout, one JSON object a line──▶ driver ──fork──▶ kernel (ipykernel)
                                                       └───────ipc sockets in the box───┘

The driver is the first process of its box: when it ends, the box ends. It speaks the Jupyter protocol with the kernel over
sockets in its own folder; the server never opens anything that the guest could have made. The kernel gets its own session, an
empty standard input and none of the driver's descriptors, and the driver is not dumpable, so that cells cannot write into its
events by accident. A cell that does so on purpose spoils only its own result.

Orders:  {"do": "execute", "cell": 0, "code": "…", "wall_s": 0}   cells run in order; wall_s 0: no limit per cell
         {"do": "interrupt"}                                      interrupts the running cell
         {"do": "shutdown", "gently": true}                       after the cells before it; gently: the kernel ends by itself
Events:  ready | stream (name, text) | display (data) | error (ename, evalue, traceback) | dropped (bytes) | done (how)
         all but `ready` carry the number of their cell; unavailable (text) replaces `ready` if no kernel can start.
A cell ends `ok`, `error`, `timed_out` (interrupted), `killed` (ignored the interrupt), `died` (took the kernel with it; with code
or signal) or `not_run` (the kernel had ended before).

The exit status is 0, or KERNEL_DIED if the kernel did not live to the end: the accounting of the box then shows whether the
memory limit caused it. Runs under the guest's interpreter: the standard library, ipykernel and its dependencies.
"""
