"""Which system calls a program in a box may make: the table from which the filter is compiled and refused calls are answered.

A rule is a verdict, or a check of one argument with a rule for either result. Checks see registers only, never memory: another
thread could change memory between check and use.

The errno of a refusal matters, because programs continue after it. EPERM is what an unprivileged caller expects. ENOSYS means
"this kernel has no such call", and callers use an older alternative. Address families, protocols and the like get the errno
that the kernel itself returns if it lacks them.
"""

from __future__ import annotations

import errno
from collections.abc import Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import NamedTuple

from sandbox_runtime.isolation.kernel import syscalls

_WORD = 0xFFFFFFFF


class Verdict(NamedTuple):
    """What happens to a call.

    error: the errno; 0 allows the call.
    counted: whether the refusal is reported. False for mere probes.
    """

    error: int
    counted: bool


class Check(NamedTuple):
    """Apply `then` if the masked half of the argument is one of the values. For arguments that are ints in the kernel, only the
    lower half counts: the kernel drops the upper half, so comparing it too would let a call with garbage there pass."""

    argument: int
    values: tuple[int, ...]
    then: Verdict | Check
    otherwise: Verdict | Check
    mask: int = _WORD
    upper_half: bool = False


Rule = Verdict | Check

ALLOW = Verdict(0, False)
UNKNOWN = Verdict(errno.ENOSYS, False)
FOREIGN = Verdict(errno.ENOSYS, True)
"""Entered through another architecture's ABI (i386, x32, 32-bit arm), where the numbers have other meanings."""
_FORBIDDEN = Verdict(errno.EPERM, True)
_ABSENT = Verdict(errno.ENOSYS, True)

_ALLOWED = """
read write readv writev pread64 pwrite64 preadv pwritev preadv2 pwritev2 lseek sendfile splice tee vmsplice copy_file_range
open openat openat2 creat close close_range dup dup2 dup3 fcntl flock pipe pipe2 memfd_create
stat fstat lstat newfstatat statx statfs fstatfs access faccessat faccessat2 readlink readlinkat getdents getdents64 getcwd
chdir fchdir rename renameat renameat2 mkdir mkdirat rmdir link linkat unlink unlinkat symlink symlinkat mknod mknodat
chmod fchmod fchmodat fchmodat2 chown fchown lchown fchownat umask utime utimes utimensat futimesat
truncate ftruncate fallocate fadvise64 readahead sync syncfs fsync fdatasync sync_file_range
setxattr lsetxattr fsetxattr setxattrat getxattr lgetxattr fgetxattr getxattrat listxattr llistxattr flistxattr listxattrat
removexattr lremovexattr fremovexattr removexattrat
inotify_init inotify_init1 inotify_add_watch inotify_rm_watch

poll ppoll select pselect6 epoll_create epoll_create1 epoll_ctl epoll_wait epoll_pwait epoll_pwait2
eventfd eventfd2 signalfd signalfd4 timerfd_create timerfd_settime timerfd_gettime
connect accept accept4 sendto recvfrom sendmsg recvmsg sendmmsg recvmmsg shutdown bind listen getsockname getpeername
setsockopt getsockopt
mq_open mq_unlink mq_timedsend mq_timedreceive mq_notify mq_getsetattr
msgget msgsnd msgrcv msgctl semget semop semtimedop semctl shmget shmat shmdt shmctl

mmap munmap mremap mprotect msync mincore brk mlock mlock2 munlock mlockall munlockall mseal remap_file_pages map_shadow_stack
pkey_mprotect pkey_alloc pkey_free membarrier mbind set_mempolicy get_mempolicy set_mempolicy_home_node
futex futex_waitv futex_wake futex_wait futex_requeue set_robust_list get_robust_list rseq

fork vfork execve execveat exit exit_group wait4 waitid set_tid_address
kill tkill tgkill pidfd_open pidfd_send_signal rt_sigaction rt_sigprocmask rt_sigreturn rt_sigpending rt_sigtimedwait
rt_sigqueueinfo rt_tgsigqueueinfo rt_sigsuspend sigaltstack pause restart_syscall
getpid getppid gettid getpgrp getpgid setpgid getsid setsid getuid geteuid getgid getegid getresuid getresgid getgroups
setuid setgid setreuid setregid setresuid setresgid setfsuid setfsgid setgroups capget capset
getrlimit setrlimit getrusage times sysinfo uname getcpu getpriority ioprio_get
sched_yield sched_getparam sched_getscheduler sched_getattr sched_getaffinity sched_get_priority_max sched_get_priority_min
sched_rr_get_interval arch_prctl seccomp landlock_create_ruleset landlock_add_rule landlock_restrict_self

time gettimeofday clock_gettime clock_getres clock_nanosleep nanosleep alarm getitimer setitimer
timer_create timer_settime timer_gettime timer_getoverrun timer_delete getrandom

uretprobe uprobe
"""
# The last two are entered from trampolines that the host's own tracing places in a program; elsewhere they do nothing.

_REFUSED: Mapping[str, Rule] = MappingProxyType(
    {
        # Other processes' memory, registers and descriptors.
        "ptrace process_vm_readv process_vm_writev process_madvise process_mrelease pidfd_getfd kcmp": _FORBIDDEN,
        # Mounts, roots and namespaces.
        "mount umount2 pivot_root chroot fsopen fsconfig fsmount fspick move_mount mount_setattr": _FORBIDDEN,
        "open_tree open_tree_attr setns quotactl quotactl_fd": _FORBIDDEN,
        # Handles open files regardless of the directories that hide them.
        "open_by_handle_at fanotify_init fanotify_mark": _FORBIDDEN,
        "name_to_handle_at": Verdict(errno.EOPNOTSUPP, True),
        # Large kernel interfaces that were used for escapes before, or help with one by timing or kernel addresses.
        "io_uring_setup io_uring_enter io_uring_register bpf perf_event_open userfaultfd modify_ldt": _FORBIDDEN,
        # The machine has one global count of asynchronous requests: a box could exhaust it, or signal another box through it.
        "io_setup io_destroy io_submit io_cancel io_getevents io_pgetevents": _ABSENT,
        # Keyrings belong to users, not to boxes.
        "add_key request_key keyctl": _FORBIDDEN,
        # Where pages are, and which pages of shared files are in memory, leaks information between boxes.
        "move_pages migrate_pages": _FORBIDDEN,
        "cachestat": _ABSENT,
        # The machine itself.
        "kexec_load kexec_file_load init_module finit_module delete_module reboot swapon swapoff acct syslog vhangup": _FORBIDDEN,
        "iopl ioperm sethostname setdomainname settimeofday clock_settime adjtimex clock_adjtime": _FORBIDDEN,
        # New calls that nothing depends on yet; callers fall back to older ones.
        "statmount listmount lsm_get_self_attr lsm_set_self_attr lsm_list_modules memfd_secret": _ABSENT,
        # Old calls that current kernels no longer have, or should not have.
        "uselib ustat sysfs _sysctl create_module get_kernel_syms query_module nfsservctl getpmsg putpmsg afs_syscall": _ABSENT,
        "tuxcall security vserver set_thread_area get_thread_area epoll_ctl_old epoll_wait_old lookup_dcookie": _ABSENT,
        # Its flags are in memory, invisible to a filter. C libraries then use clone; they try at every thread, so it is not
        # reported.
        "clone3": UNKNOWN,
    }
)

# CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET. (0x80, NEWTIME for unshare, is part of a signal number here.)
_NAMESPACE_FLAGS = 0x00020000 | 0x02000000 | 0x04000000 | 0x08000000 | 0x10000000 | 0x20000000 | 0x40000000
_CLONE = Check(0, (0,), ALLOW, _FORBIDDEN, mask=_NAMESPACE_FLAGS)

# CLONE_VM, FS, FILES, SIGHAND, THREAD, SYSVSEM: what unshare does besides namespaces. Future flags are refused.
_UNSHARE_HARMLESS = 0x00000100 | 0x00000200 | 0x00000400 | 0x00000800 | 0x00010000 | 0x00040000
_UNSHARE = Check(0, (0,), Check(0, (0,), ALLOW, _FORBIDDEN, upper_half=True), _FORBIDDEN, mask=_WORD ^ _UNSHARE_HARMLESS)

_AF_UNIX, _AF_INET, _AF_INET6, _AF_NETLINK = 1, 2, 10, 16
_NETLINK_ROUTE = 0
_STREAM_OR_DATAGRAM = (1, 2)
_SOCKET_TYPE_MASK = 0xF
_IP_TCP_UDP_ICMP_ICMPV6 = (0, 6, 17, 1, 58)
_IPPROTO_MPTCP = 262
_NO_PROTOCOL = Verdict(errno.EPROTONOSUPPORT, True)
# Go probes for multipath TCP before it listens, and uses plain TCP after this answer.
_OTHER_PROTOCOL = Check(2, (_IPPROTO_MPTCP,), Verdict(errno.EPROTONOSUPPORT, False), _NO_PROTOCOL)
_INET_PROTOCOL = Check(2, _IP_TCP_UDP_ICMP_ICMPV6, ALLOW, _OTHER_PROTOCOL)
# Excludes SOCK_RAW and also SOCK_PACKET, which the kernel turns into a packet socket.
_INET = Check(1, _STREAM_OR_DATAGRAM, _INET_PROTOCOL, _FORBIDDEN, mask=_SOCKET_TYPE_MASK)
_NETLINK = Check(2, (_NETLINK_ROUTE,), ALLOW, _NO_PROTOCOL)
_OTHER_FAMILY = Check(0, (_AF_NETLINK,), _NETLINK, Verdict(errno.EAFNOSUPPORT, True))
_SOCKET = Check(0, (_AF_UNIX,), ALLOW, Check(0, (_AF_INET, _AF_INET6), _INET, _OTHER_FAMILY))

# TIOCSTI and TIOCLINUX inject input into the terminal, TIOCCONS takes over the console, TIOCSETD loads line disciplines.
_IOCTL = Check(1, (0x5412, 0x541C, 0x541D, 0x5423), _FORBIDDEN, ALLOW)

_QUERY = 0xFFFFFFFF
_ADDR_NO_RANDOMIZE = 0x00040000
_PERSONALITY = Check(0, (0,), ALLOW, Check(0, (_QUERY,), ALLOW, _FORBIDDEN), mask=_WORD ^ _ADDR_NO_RANDOMIZE)

# PR_MCE_KILL, PR_SET_MM, PR_SET_IO_FLUSHER, PR_SCHED_CORE (keeps other boxes off a core), PR_SET_MEMORY_MERGE (see madvise).
_PRCTL = Check(0, (33, 35, 57, 62, 67), _FORBIDDEN, ALLOW)

# Merging equal pages of different boxes leaks memory contents through timing.
_MADV_MERGEABLE = 12
_MADVISE = Check(2, (_MADV_MERGEABLE,), Verdict(errno.EINVAL, True), ALLOW)

# Process 1 is the box's own init and may have the program's user: limits or a priority set on it would make a fault of the
# program look like a fault of the platform.
_NOT_ON_INIT = Check(0, (1,), _FORBIDDEN, ALLOW)
_NOT_ON_INIT_SECOND = Check(1, (1,), _FORBIDDEN, ALLOW)

_CHECKED: Mapping[str, Rule] = MappingProxyType(
    {
        "clone": _CLONE,
        "unshare": _UNSHARE,
        "socket socketpair": _SOCKET,
        "ioctl": _IOCTL,
        "personality": _PERSONALITY,
        "prctl": _PRCTL,
        "madvise": _MADVISE,
        "prlimit64 sched_setaffinity sched_setattr sched_setparam sched_setscheduler": _NOT_ON_INIT,
        "setpriority ioprio_set": _NOT_ON_INIT_SECOND,
    }
)


@cache
def by_name() -> MappingProxyType[str, Rule]:
    """Return the whole table. A known call that is missing from it is forbidden."""
    table: dict[str, Rule] = dict.fromkeys(_ALLOWED.split(), ALLOW)
    for names, rule in (*_REFUSED.items(), *_CHECKED.items()):
        table.update(dict.fromkeys(names.split(), rule))
    return MappingProxyType(table)


@cache
def by_number(machine: str) -> MappingProxyType[int, Rule]:
    table = by_name()
    return MappingProxyType({number: table.get(name, _FORBIDDEN) for name, number in syscalls.numbers(machine).items()})


def decide(rule: Rule, arguments: Sequence[int]) -> Verdict:
    """Return the verdict for a call with these six registers."""
    while isinstance(rule, Check):
        register = arguments[rule.argument]
        half = register >> 32 if rule.upper_half else register & _WORD
        rule = rule.then if half & rule.mask in rule.values else rule.otherwise
    return rule
