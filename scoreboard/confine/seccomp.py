"""The system calls that a confined engine is refused, as a program for the kernel's filter (seccomp-BPF).

``format_filter(machine)`` gives the bytes of an array of ``struct sock_filter`` (u16 code, u8 jump if true,
u8 jump if false, u32 operand). The program ends the process for calls of a foreign instruction set, refuses with
EPERM ``DENIED``, every socket that is not AF_UNIX, and leases and notifications by ``fcntl``, and allows the rest.

>>> len(format_filter("x86_64")) // 8 == len(DENIED) + 14
True
>>> format_filter("sparc64") is None
True
"""

import struct

# call: number on x86_64, number on aarch64 (Linux, asm/unistd_64.h and asm-generic/unistd.h), None where it has none
DENIED: dict[str, tuple[int, int | None]] = {
    # looking into and steering other processes, the kernel, its keys
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "process_madvise": (440, 440),
    "pidfd_getfd": (438, 438),
    "kcmp": (312, 272),
    "perf_event_open": (298, 241),
    "bpf": (321, 280),
    "userfaultfd": (323, 282),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "syslog": (103, 116),
    "acct": (163, 89),
    "fanotify_init": (300, 262),
    # other namespaces, other mounts
    "unshare": (272, 97),
    "setns": (308, 268),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    # clocks, the core, priority
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "adjtimex": (159, 171),
    "clock_adjtime": (305, 266),
    "sched_setaffinity": (203, 122),
    "sched_setscheduler": (144, 119),
    "sched_setparam": (142, 118),
    "sched_setattr": (314, 274),
    "setpriority": (141, 140),
    "ioprio_set": (251, 30),
    # work that the kernel's accounts do not show
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    # what goes off while the engine is stopped: one timer that ten thousand epolls watch is milliseconds of the
    # other arm's turn. Waiting in a call is no such thing: the freezer ends it.
    "timerfd_create": (283, 85),
    "timerfd_settime": (286, 86),
    "timer_create": (222, 107),
    "timer_settime": (223, 110),
    "setitimer": (38, 103),
    "alarm": (37, None),
    "io_setup": (206, 0),
    "io_submit": (209, 2),
    "inotify_init": (253, None),
    "inotify_init1": (294, 26),
    # the machine
    "personality": (135, 92),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "reboot": (169, 142),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "vhangup": (153, 58),
}
_SOCKET, _FCNTL = (41, 198), (72, 25)
_MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}  # column, AUDIT_ARCH_*
_FOREIGN_NUMBERS = 0x40000000  # x32 calls on x86_64; beyond every number elsewhere

_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_NUMBER_AT, _ARCH_AT, _FIRST_AT, _SECOND_AT = 0, 4, 16, 24  # offsets in struct seccomp_data
_ALLOW, _REFUSE, _KILL = 0x7FFF0000, 0x00050001, 0x80000000  # _REFUSE carries EPERM
_AF_UNIX = 1
_F_SETLEASE, _F_NOTIFY = 1024, 1026  # on a file that the other arm opens: it would wait


def format_filter(machine: str) -> bytes | None:
    """The filter for ``machine`` (as ``uname -m`` spells it), or None where none is known."""
    if machine not in _MACHINES:
        return None
    column, arch = _MACHINES[machine]
    numbers = [number for call in DENIED.values() if (number := call[column]) is not None]
    tail = 8  # from the last denied number to the refusal
    program = [
        (_LOAD, 0, 0, _ARCH_AT),
        (_EQUAL, 1, 0, arch),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER_AT),
        (_AT_LEAST, len(numbers) + tail, 0, _FOREIGN_NUMBERS),
        *((_EQUAL, len(numbers) - 1 - place + tail, 0, number) for place, number in enumerate(numbers)),
        (_EQUAL, 0, 2, _SOCKET[column]),
        (_LOAD, 0, 0, _FIRST_AT),
        (_EQUAL, 4, 5, _AF_UNIX),
        (_EQUAL, 0, 3, _FCNTL[column]),
        (_LOAD, 0, 0, _SECOND_AT),
        (_EQUAL, 2, 0, _F_SETLEASE),
        (_EQUAL, 1, 0, _F_NOTIFY),
        (_RETURN, 0, 0, _ALLOW),
        (_RETURN, 0, 0, _REFUSE),
    ]
    return b"".join(struct.pack("=HBBI", *instruction) for instruction in program)
