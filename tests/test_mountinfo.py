import doctest
from pathlib import Path

import pytest

from scoreboard.confine import mountinfo
from scoreboard.confine.mountinfo import UNIFIED, group_directories

PURE = "23 28 0:21 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"
HYBRID = """\
22 27 0:21 / /proc rw,relatime - proc proc rw
35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory
36 31 0:33 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct
41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw
"""
NESTED = "41 31 0:38 /docker/abc /sys/fs/cgroup ro - cgroup2 cgroup2 rw\n"

CASES: dict[str, tuple[str, str, dict[str, str]]] = {
    "cgroup2 alone": ("0::/user.slice/x.scope\n", PURE, {UNIFIED: "/sys/fs/cgroup/user.slice/x.scope"}),
    "both versions": (
        "5:cpu,cpuacct:/\n4:memory:/box/a\n0::/\n",
        HYBRID,
        {
            "memory": "/sys/fs/cgroup/memory/box/a",
            "cpu": "/sys/fs/cgroup/cpu,cpuacct",
            "cpuacct": "/sys/fs/cgroup/cpu,cpuacct",
            UNIFIED: "/sys/fs/cgroup/unified",
        },
    ),
    "a container that sees a part": ("0::/docker/abc/work\n", NESTED, {UNIFIED: "/sys/fs/cgroup/work"}),
    "a container whose own group is not shown": ("0::/other\n", NESTED, {UNIFIED: "/sys/fs/cgroup"}),
    "no control groups": ("", "22 27 0:21 / /proc rw,relatime - proc proc rw\n", {}),
    "none of this process": ("", PURE, {}),
}


@pytest.mark.parametrize("name", CASES)
def test_the_groups_of_a_process_are_found(name: str) -> None:
    own, mounts, expected = CASES[name]
    assert group_directories(own, mounts) == {key: Path(path) for key, path in expected.items()}


def test_the_example_in_the_module_holds() -> None:
    assert doctest.testmod(mountinfo).failed == 0
