import ctypes
import doctest
import platform
import struct
from pathlib import Path

import pytest

from scoreboard.confine import seccomp
from scoreboard.confine.seccomp import DENIED, format_filter

ARCH = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
COLUMN = {"x86_64": 0, "aarch64": 1}
SOCKET = {"x86_64": 41, "aarch64": 198}
ALLOW, REFUSE, KILL = 0x7FFF0000, 0x00050001, 0x80000000
AF_UNIX, AF_INET, AF_INET6, AF_VSOCK = 1, 2, 10, 40


def verdict(machine: str, number: int, *, arch: int | None = None, argument: int = 0, second: int = 0) -> int:
    """What the filter says of a call: a small machine for the few instructions that it uses."""
    program = format_filter(machine)
    assert program is not None
    data = struct.pack("<IIQ6Q", number, ARCH[machine] if arch is None else arch, 0, argument, second, *[0] * 4)
    place, loaded = 0, 0
    while True:
        code, if_true, if_false, operand = struct.unpack_from("=HBBI", program, 8 * place)
        place += 1
        if code == 0x20:
            (loaded,) = struct.unpack_from("<I", data, operand)
        elif code == 0x06:
            return int(operand)
        else:
            holds = {0x15: loaded == operand, 0x35: loaded >= operand}[code]
            place += if_true if holds else if_false


def numbers_of(machine: str) -> dict[str, int]:
    column = COLUMN[machine]
    return {call: number for call, numbers in DENIED.items() if (number := numbers[column]) is not None}


@pytest.mark.parametrize("machine", ARCH)
def test_a_denied_call_is_refused(machine: str) -> None:
    refused = {call: verdict(machine, number) for call, number in numbers_of(machine).items()}
    assert len(refused) > 60
    assert {call for call, answer in refused.items() if answer != REFUSE} == set()


@pytest.mark.parametrize("machine", ARCH)
def test_every_other_call_is_allowed(machine: str) -> None:
    denied = {*numbers_of(machine).values(), SOCKET[machine]}
    allowed = [number for number in range(500) if number not in denied]
    assert {verdict(machine, number) for number in allowed} == {ALLOW}


@pytest.mark.parametrize("machine", ARCH)
@pytest.mark.parametrize(
    ("family", "expected"),
    [(AF_UNIX, ALLOW), (0, REFUSE), (AF_INET, REFUSE), (AF_INET6, REFUSE), (AF_VSOCK, REFUSE)],
)
def test_only_local_sockets_are_made(machine: str, family: int, expected: int) -> None:
    assert verdict(machine, SOCKET[machine], argument=family) == expected


@pytest.mark.parametrize("machine", ARCH)
@pytest.mark.parametrize(
    ("command", "expected"),
    [(0, ALLOW), (1, ALLOW), (4, ALLOW), (1023, ALLOW), (1024, REFUSE), (1025, ALLOW), (1026, REFUSE), (1030, ALLOW)],
)
def test_files_are_not_leased_and_directories_not_watched(machine: str, command: int, expected: int) -> None:
    assert verdict(machine, {"x86_64": 72, "aarch64": 25}[machine], argument=command * 7, second=command) == expected


@pytest.mark.parametrize("machine", ARCH)
def test_calls_of_a_foreign_instruction_set_end_the_process(machine: str) -> None:
    assert verdict(machine, 0, arch=0x40000003) == KILL


def test_the_other_numbering_of_x86_64_is_refused() -> None:
    assert verdict("x86_64", 0x40000000) == REFUSE
    assert verdict("x86_64", 0x3FFFFFFF) == ALLOW


def test_no_number_stands_twice() -> None:
    for machine in ARCH:
        numbers = numbers_of(machine)
        assert len(set(numbers.values())) == len(numbers)


def test_the_numbers_are_those_of_this_machine() -> None:
    header = {
        "x86_64": Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
        "aarch64": Path("/usr/include/asm-generic/unistd.h"),
    }.get(platform.machine())
    if header is None or not header.exists():
        pytest.skip("no kernel headers here")
    defined = {
        words[1].removeprefix("__NR_").removeprefix("__NR3264_"): words[2]
        for words in (line.split() for line in header.read_text().splitlines())
        if len(words) == 3 and words[0] == "#define"
    }
    known = {call: str(number) for call, number in numbers_of(platform.machine()).items() if call in defined}
    assert len(known) > len(DENIED) // 2
    assert known == {call: defined[call] for call in known}


def test_an_unknown_machine_has_no_filter() -> None:
    assert format_filter("riscv64") is None
    assert doctest.testmod(seccomp).failed == 0
    assert ctypes.sizeof(ctypes.c_uint64) * (len(DENIED) + 14) == len(format_filter("x86_64") or b"")
