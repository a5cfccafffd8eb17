"""The program in the box that runs a notebook's cells in a real Jupyter kernel, and tells of it. Knows nothing of the package
that it lies in: in the box it has a name of its own.

Theory of operation. Two processes, both in the box and both the guest's own user:

    server ──stdin/stdout, one JSON object a line──▶ driver ──fork──▶ kernel (ipykernel)
                                                       └───────ipc sockets in the box───┘

The driver is the first process of its box: when it ends, the box ends. It speaks the Jupyter protocol with the kernel over
sockets in its own folder; the server never opens anything that the guest could have made. The kernel gets a session of its own,
an empty standard input and none of the driver's descriptors, and the driver cannot be looked into from outside, so that cells
cannot write into what it tells by accident. Whatever they manage on purpose spoils their own answer and nothing else.

Orders:  {"do": "execute", "cell": 0, "code": "…", "wall_s": 0}   cells run in order; wall_s 0: no limit of its own
         {"do": "interrupt"}                                      the running cell
         {"do": "shutdown", "gently": true}                       after the cells before it; gently: the kernel ends by itself
Events:  ready | stream (name, text) | display (data) | error (ename, evalue, traceback) | dropped (bytes) | done (how)
         each but `ready` with the cell it belongs to; unavailable (text) instead of `ready` where there is no kernel to start.
A cell ends `ok`, `error`, `timed_out` (was interrupted), `killed` (did not heed the interrupt), `died` (took the kernel with
it; with code or signal), or was `not_run` because the kernel is gone.

The exit status is 0, or KERNEL_DIED when the kernel did not live to the end: the kernel's own accounts then say whether it was
the memory limit. Runs under the guest's interpreter: the standard library, ipykernel and what that brings.
"""
