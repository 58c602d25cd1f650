"""Where a process's own control groups stand, from what the kernel says about it. Pure.

A line of /proc/self/cgroup is ``number:controllers:path``; cgroup2 has no controllers there. A line of
/proc/self/mountinfo has the mounted root and the mount point as fields 4 and 5, and the file system's type and
options after `` - ``.

>>> found = group_directories("0::/a/b", "31 1 0:28 /a /sys/fs/cgroup rw - cgroup2 cgroup2 rw")
>>> str(found[UNIFIED])
'/sys/fs/cgroup/b'
"""

from pathlib import Path

UNIFIED = ""
_CGROUP_MOUNTS = ("cgroup", "cgroup2")


def group_directories(own: str, mounts: str) -> dict[str, Path]:
    """The directory of this process's group for each controller of version 1; under ``UNIFIED`` for cgroup2."""
    paths = _own_paths(own)
    directories = {}
    for line in mounts.splitlines():
        mount, _, super_block = line.partition(" - ")
        kind, _, rest = super_block.partition(" ")
        if kind in _CGROUP_MOUNTS:
            root, point = mount.split()[3:5]
            names = [UNIFIED] if kind == "cgroup2" else rest.split()[-1].split(",")
            for name in set(names) & paths.keys():
                directories[name] = _below(Path(point), root, paths[name])
    return directories


def _own_paths(text: str) -> dict[str, str]:
    lines = [line.split(":", 2) for line in text.splitlines()]
    return {name: path for _, names, path in lines for name in names.split(",")}


def _below(point: Path, root: str, own: str) -> Path:
    """The directory under mount ``point``, which shows ``root``, of the group ``own``."""
    try:
        return point / Path(own).relative_to(root)
    except ValueError:
        return point
