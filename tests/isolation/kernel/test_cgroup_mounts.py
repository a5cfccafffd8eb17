"""Where this process stands in the hierarchies, read from the kernel's own words."""

from __future__ import annotations

from pathlib import Path

from sandbox_runtime.isolation.kernel.cgroup.mounts import Mount, bases, read_mounts, read_own_paths


def test_controllers_mounted_together_are_one_hierarchy() -> None:
    (mount,) = read_mounts("33 31 0:30 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:9 - cgroup cgroup rw,cpu,cpuacct")
    assert (mount.version, mount.point) == (1, "/sys/fs/cgroup/cpu,cpuacct")
    assert mount.controllers >= {"cpu", "cpuacct"}


def test_other_file_systems_are_passed_over_and_odd_names_read_right() -> None:
    lines = [
        "23 1 0:20 / /proc rw,relatime - proc proc rw",
        r"41 31 0:38 / /mnt/my\040groups ro,relatime - cgroup2 none rw",
    ]
    (mount,) = read_mounts("\n".join(lines))
    assert (mount.version, mount.point, mount.read_only) == (2, "/mnt/my groups", True)


def test_own_paths_are_known_by_controller_and_version_2_by_no_name() -> None:
    own = read_own_paths("4:memory:/a\n3:cpu,cpuacct:/b:c\n1:name=systemd:/d\n0::/e\n")
    assert (own["memory"], own["cpu"], own["cpuacct"], own[""]) == ("/a", "/b:c", "/b:c", "/e")


def mount_at(point: Path, root: str = "/") -> Mount:
    return Mount(2, root, str(point), frozenset(), read_only=False)


def test_the_own_group_comes_first_and_the_top_last(tmp_path: Path) -> None:
    (tmp_path / "system.slice/unit.service").mkdir(parents=True)
    found = bases(mount_at(tmp_path), "/system.slice/unit.service")
    assert found == [f"{tmp_path}/system.slice/unit.service", f"{tmp_path}/system.slice", str(tmp_path)]


def test_a_container_that_sees_a_part_of_the_tree_finds_itself_in_it(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    assert bases(mount_at(tmp_path, root="/docker/abc"), "/docker/abc/inner") == [f"{tmp_path}/inner", str(tmp_path)]
    assert bases(mount_at(tmp_path, root="/docker/abc"), "/docker/abc") == [str(tmp_path)]


def test_a_process_outside_of_what_is_mounted_gets_the_top(tmp_path: Path) -> None:
    for own_path, root in (("/elsewhere", "/docker/abc"), ("/../outer", "/"), ("/docker/abcdef", "/docker/abc")):
        assert bases(mount_at(tmp_path, root=root), own_path) == [str(tmp_path)]
