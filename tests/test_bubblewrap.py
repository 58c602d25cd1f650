from pathlib import Path

import pytest

from scoreboard.confine.bubblewrap import ENVIRONMENT, Interpreter, System, View, arguments, inside
from scoreboard.confine.layout import find_interpreter, find_packages, find_system

VIEW = View(
    interpreter=Interpreter(
        program=Path("/opt/py/bin/python3"),
        directories=(Path("/opt/py/lib"),),
        packages=(Path("/opt/py/lib/site"), Path("/opt/py/lib/dist")),
    ),
    system=System(binds=(Path("/usr/lib"),), links=(("usr/lib", Path("/lib")),)),
    granted=(Path("/home/me/venv/numpy"),),
    tree=Path("/private/copy"),
    weights=Path("/models/m.gguf"),
    host=Path("/home/me/scoreboard/host.py"),
    tmp_bytes=4096,
)


def bound(words: list[str], option: str) -> dict[str, str]:
    """Target to source of each use of ``option``."""
    return {words[place + 2]: words[place + 1] for place, word in enumerate(words) if word == option}


def test_an_engine_is_shown_what_it_was_granted_and_nothing_else() -> None:
    words = arguments(VIEW, disable_userns=True, seccomp_fd=None)
    assert bound(words, "--ro-bind") == {
        "/usr/lib": "/usr/lib",
        "/opt/py/bin/python3": "/opt/py/bin/python3",
        "/opt/py/lib": "/opt/py/lib",
        "/opt/py/lib/site/numpy": "/home/me/venv/numpy",
        "/engine": "/private/copy",
        "/weights/m.gguf": "/models/m.gguf",
        "/harness/host.py": "/home/me/scoreboard/host.py",
    }
    assert "--bind" not in words
    assert set(bound(words, "--dev-bind")) == {f"/dev/{name}" for name in ("null", "zero", "full", "random", "urandom")}
    assert bound(words, "--symlink") == {"/lib": "usr/lib"}


def test_packages_of_the_interpreter_are_covered_and_what_covers_them_is_read_only() -> None:
    words = arguments(VIEW, disable_userns=True, seccomp_fd=None)
    for place in ("/opt/py/lib/site", "/opt/py/lib/dist"):
        cover = words.index(place)
        assert words[cover - 1] == "--tmpfs"
        assert words[words.index("--remount-ro", cover) + 1] == place


def test_the_whole_root_is_made_read_only_at_the_end() -> None:
    assert arguments(VIEW, disable_userns=True, seccomp_fd=None)[-2:] == ["--remount-ro", "/"]


def test_private_directories_have_the_wanted_size() -> None:
    words = arguments(VIEW, disable_userns=True, seccomp_fd=None)
    for target in ("/tmp", "/dev"):
        assert words[words.index(target) - 3 : words.index(target)] == ["--size", "4096", "--tmpfs"]


def test_the_environment_is_fixed() -> None:
    words = arguments(VIEW, disable_userns=True, seccomp_fd=None)
    assert "--clearenv" in words
    places = [place for place, word in enumerate(words) if word == "--setenv"]
    assert {words[place + 1]: words[place + 2] for place in places} == ENVIRONMENT


@pytest.mark.parametrize(
    "option",
    ["--unshare-all", "--unshare-user", "--cap-drop", "--die-with-parent", "--new-session", "--clearenv"],
)
def test_every_wall_is_up(option: str) -> None:
    assert option in arguments(VIEW, disable_userns=False, seccomp_fd=None)
    assert "--share-net" not in arguments(VIEW, disable_userns=False, seccomp_fd=None)


def test_single_walls_can_be_left_out() -> None:
    strong = arguments(VIEW, disable_userns=True, seccomp_fd=20)
    weak = arguments(VIEW, disable_userns=False, seccomp_fd=None)
    assert strong[strong.index("--seccomp") + 1] == "20"
    assert [word for word in strong if word not in ("--disable-userns", "--seccomp", "20")] == weak


def test_the_weights_keep_their_name_inside() -> None:
    assert inside(Path("/models/m.gguf")) == "/weights/m.gguf"


def test_links_and_directories_of_libraries_are_told_apart(tmp_path: Path) -> None:
    (tmp_path / "usr" / "lib").mkdir(parents=True)
    (tmp_path / "usr" / "lib64").mkdir()
    (tmp_path / "lib").symlink_to("usr/lib")
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc" / "ld.so.cache").touch()
    assert find_system(tmp_path) == System(
        binds=(tmp_path / "usr" / "lib", tmp_path / "usr" / "lib64", tmp_path / "etc" / "ld.so.cache"),
        links=(("usr/lib", tmp_path / "lib"),),
    )


def test_granted_packages_are_found_where_they_are_imported_from() -> None:
    numpy, *rest = find_packages(("numpy", "no such package"))
    assert (numpy / "__init__.py").exists()
    assert rest == []


def test_the_interpreter_stands_outside_the_virtual_environment() -> None:
    interpreter = find_interpreter()
    assert interpreter.program.is_file()
    assert not interpreter.program.is_symlink()
    assert interpreter.packages


def test_the_kernel_s_settings_below_proc_are_read_only() -> None:
    words = arguments(VIEW, disable_userns=True, seccomp_fd=None)
    mounted = words.index("--proc")
    assert words[mounted : mounted + 4] == ["--proc", "/proc", "--remount-ro", "/proc"]
