"""What package clients are asked for, and what the resolvers choose: with registries on the loopback, without a box."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from tests.mcp.registries import Files, maven_artifact, nuget_package, served, zipped

from sandbox_runtime.errors import InvalidRequest, Unavailable
from sandbox_runtime.languages import packages
from sandbox_runtime.languages.packages import find_package_manager, install_error, launch_script_for, parse_listing
from sandbox_runtime.languages.packages.inside import maven, nuget

INSIDE = Path(packages.__file__).parent


@pytest.mark.parametrize(
    ("language", "text", "asked"),
    [
        ("javascript", "lodash", "lodash"),
        ("typescript", "lodash==4.17.21", "lodash@4.17.21"),
        ("javascript", "@types/node@^22.1", "@types/node@^22.1"),
        ("go", "github.com/Some/Module/v2@v2.0.1", "github.com/Some/Module/v2@v2.0.1"),
        ("go", "example.com/m==v1.0.0", "example.com/m@v1.0.0"),
        ("rust", "serde", "serde"),
        ("rust", "serde@1.0", "serde@1.0"),
        ("rust", "serde==1.0.2", "serde@=1.0.2"),
        ("rust", "tokio[rt,macros]@1", "tokio[rt,macros]@1"),
        ("java", "org.json:json:20240303", "org.json:json:20240303"),
        ("java", "org.json:json", "org.json:json"),
        ("csharp", "Newtonsoft.Json@13.0.3", "Newtonsoft.Json@13.0.3"),
    ],
)
def test_names_and_versions_become_what_the_client_takes(language: str, text: str, asked: str) -> None:
    assert find_package_manager(language).parse_requirements([text]) == [asked]


@pytest.mark.parametrize("language", ["javascript", "go", "rust", "java", "csharp"])
@pytest.mark.parametrize("text", ["", "-x", "../x", "~/x", "https://x/y", "a b", "a;b", "a|b", "$x", "a@b@c", "a@@b", "x" * 300])
def test_what_is_no_name_is_refused(language: str, text: str) -> None:
    with pytest.raises(InvalidRequest):
        find_package_manager(language).parse_requirements([text])


@pytest.mark.parametrize("language", ["javascript", "go", "rust", "java", "csharp"])
def test_scripts_are_scripts_of_bash_whatever_is_asked_for(language: str) -> None:
    kit = find_package_manager(language)
    checked = subprocess.run(["bash", "-n", "-c", kit.script(["it's", "$(touch x)", "a;b"])], capture_output=True, timeout=60)
    assert checked.returncode == 0, checked.stderr


def test_features_of_a_crate_are_asked_for_with_it() -> None:
    assert "cargo add tokio@1 --features rt,macros" in find_package_manager("rust").script(["tokio[rt,macros]@1"])


@pytest.mark.parametrize(("language", "advice"), [("cpp", "operator"), ("shell", "operator"), ("ruby", "files")])
def test_languages_without_a_client_are_refused_with_advice(language: str, advice: str) -> None:
    with pytest.raises(Unavailable, match=advice):
        find_package_manager(language)


def test_a_listing_is_a_claim() -> None:
    told = b"serde 1.0.2\n\xff\xfe 1\n<script> 1\nno-version\n@types/node 22.1.0\n" + b"x" * 10_000_000
    assert parse_listing(told) == ("serde 1.0.2", "@types/node 22.1.0")
    assert len(parse_listing(b"a 1\n" * 5000)) == 1000


def test_a_client_that_found_no_registry_is_told_apart() -> None:
    assert "cannot be reached" in install_error("", "npm ERR! getaddrinfo EAI_AGAIN x")
    assert install_error("", "line\n" * 100).count("line") == 20


def test_a_java_program_is_kept_under_the_name_of_its_class() -> None:
    line = launch_script_for("java", {}, "import x.Y; public final class Told { }")
    assert line.source == "Told.java" and line.start.endswith(" Told")
    assert launch_script_for("java", {"main_class": "Other"}, "public class Told { }").source == "Other.java"


@pytest.mark.parametrize("language", ["go", "rust", "java", "csharp"])
def test_lines_are_scripts_of_bash(language: str) -> None:
    options = {"build_flags": "-v '; id'", "features": ["a"], "release": True, "classpath": 'x:$(id)`id`"', "edition": "2018"}
    script = launch_script_for(language, options, "code").script("/workspace/a b", "/workspace/.lang_exec_1")
    checked = subprocess.run(["bash", "-n", "-c", script], capture_output=True, timeout=60)
    assert checked.returncode == 0 and "$(id)" not in script and "`id`" not in script, script


# The resolver of Maven's repositories.


def needing(*rows: str, managed: str = "", more: str = "") -> str:
    """rows: group:artifact:version and, behind a |, further words of the row."""
    return f"{more}<dependencyManagement><dependencies>{managed}</dependencies></dependencyManagement>" + (
        f"<dependencies>{''.join(row(one) for one in rows)}</dependencies>"
    )


def row(text: str) -> str:
    name, _, more = text.partition("|")
    group, artifact, version = name.split(":")
    told = f"<version>{version}</version>" if version else ""
    return f"<dependency><groupId>{group}</groupId><artifactId>{artifact}</artifactId>{told}{more}</dependency>"


def artifacts(**described: str) -> Files:
    """name_1_0="…": the artifact a.b:name of version 1.0, and what its description says."""
    files: Files = {}
    for key, more in described.items():
        name, version = re.fullmatch(r"([a-z]+)_(\w+)", key).groups()  # type: ignore[union-attr]
        files |= maven_artifact("a.b", name, version.replace("_", "."), {f"{name}.txt": version.encode()}, more)
    return files


def choose_version(files: Mapping[str, bytes], *names: str) -> dict[str, str]:
    with served("127.0.0.1", files) as url:
        wishes = [maven.Requirement("a.b", *name.split(":")) for name in names]
        return {artifact: wish.version for (_, artifact), wish in maven.resolve_all(maven.Repository(url), wishes).items()}


def test_the_nearest_version_wins() -> None:
    files = artifacts(top_1=needing("a.b:left:1", "a.b:deep:2"), left_1=needing("a.b:deep:1"), deep_1="", deep_2="")
    assert choose_version(files, "top:1") == {"top": "1", "left": "1", "deep": "2"}


def test_what_is_optional_left_out_or_for_tests_is_not_fetched() -> None:
    without = "|<exclusions><exclusion><groupId>a.b</groupId><artifactId>no</artifactId></exclusion></exclusions>"
    files = artifacts(
        top_1=needing(f"a.b:mid:1{without}", "a.b:t:1|<scope>test</scope>", "a.b:o:1|<optional>true</optional>"),
        mid_1=needing("a.b:no:1", "a.b:yes:1|<scope>runtime</scope>", "a.b:p:1|<scope>provided</scope>"),
        yes_1="",
    )
    assert choose_version(files, "top:1") == {"top": "1", "mid": "1", "yes": "1"}


def test_versions_come_from_parents_lists_and_properties() -> None:
    parent = "<parent><groupId>a.b</groupId><artifactId>parent</artifactId><version>1</version></parent>"
    imported = row("a.b:list:1|<type>pom</type><scope>import</scope>")
    files = artifacts(
        top_1=needing("a.b:x:", "a.b:y:", "a.b:z:${of.z}", more=parent),
        parent_1=needing(managed=imported + row("a.b:x:${project.version}"), more="<properties><of.z>3</of.z></properties>"),
        list_1=needing(managed=row("a.b:y:2") + row("a.b:x:9")),
        x_1="",
        y_2="",
        z_3="",
    )
    assert choose_version(files, "top:1") == {"top": "1", "x": "1", "y": "2", "z": "3"}


def test_what_is_managed_to_be_for_tests_or_without_something_is_so_everywhere() -> None:
    without = "<exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions>"
    managed = row("a.b:t:1|<scope>test</scope>") + row(f"a.b:x:1|{without}")
    files = artifacts(top_1=needing("a.b:t:", "a.b:x:", managed=managed), x_1=needing("a.b:gone:1"))
    assert choose_version(files, "top:1") == {"top": "1", "x": "1"}


def test_circles_end_and_ranges_take_the_newest_in_them() -> None:
    versions = "".join(f"<version>{one}</version>" for one in ("1.0", "1.9", "1.10", "2.0-rc1", "2.0"))
    files = artifacts(ring_1=needing("a.b:other:1"), other_1=needing("a.b:ring:1", "a.b:span:[1.0,2.0)"), span_1_10="")
    files["a/b/span/maven-metadata.xml"] = (
        f"<metadata><versioning><versions>{versions}</versions></versioning></metadata>".encode()
    )
    files["a/b/span/2.0-rc1/span-2.0-rc1.pom"] = files["a/b/span/1.10/span-1.10.pom"]
    assert choose_version(files, "ring:1")["span"] == "2.0-rc1"
    assert not maven._within("2.0", "[1.0,2.0)") and maven._within("1.10", "(1.9,]") and maven._within("1.0", "[1.0]")


def test_descriptions_that_cannot_be_read_are_told() -> None:
    files = artifacts(top_1="")
    files["a/b/top/1/top-1.pom"] = b"<project>"
    with pytest.raises(maven.RegistryError, match="cannot be read"):
        choose_version(files, "top:1")


def test_what_failed_leaves_what_was_there(tmp_path: Path) -> None:
    files = artifacts(one_1=needing("a.b:two:1"), two_1="", three_1=needing("a.b:gone:1"))
    with served("127.0.0.1", files) as url:
        assert resolver("maven", url, tmp_path, "a.b:one:1") == ""
        before = {one.name: one.read_bytes() for one in tmp_path.iterdir()}
        assert {"a.b.one-1.jar", "a.b.two-1.jar", "listing"} < before.keys() and b"a.b:two 1\n" in before["listing"]
        assert "no a.b:gone:1" in resolver("maven", url, tmp_path, "a.b:three:1")
        assert {one.name: one.read_bytes() for one in tmp_path.iterdir()} == before


def resolver(program: str, url: str, folder: Path, *asked: str) -> str:
    """What it complained of, started as it is in a box: as a package of its own."""
    command = [sys.executable, "-m", f"inside.{program}", url, str(folder), *asked]
    ran = subprocess.run(command, env={"PYTHONPATH": str(INSIDE)}, capture_output=True, text=True, timeout=120)
    return ran.stderr if ran.returncode else ""


def test_the_usual_repository_is_the_one_that_maven_knows(tmp_path: Path) -> None:
    described = (
        b"<project><repositories><repository><url>https://repository.test/all/</url></repository></repositories></project>"
    )
    (tmp_path / "x-model-builder-3.jar").write_bytes(zipped({"org/apache/maven/model/pom-4.0.0.xml": described}))
    assert maven.default_repository(str(tmp_path)) == "https://repository.test/all"
    with pytest.raises(maven.RegistryError, match="MAVEN_REPOSITORY"):
        maven.default_repository(str(tmp_path / "none"))


# The resolver of NuGet's packages.


def test_the_lowest_version_that_will_do_is_taken(tmp_path: Path) -> None:
    there = ["1.0.0", "1.1.0", "2.0.0-beta", "2.0.0"]
    assert nuget.choose_version(there, "") == "2.0.0" and nuget.choose_version(there, "1.0.1") == "1.1.0"
    assert nuget.choose_version(there, "[1.0.0]") == "1.0.0" and nuget.choose_version(there, "(1.0, 2.0)") == "1.0.0"
    assert nuget.choose_version(there, "3.0") == "" and nuget.version_order("1.0") == nuget.version_order("1.0.0.0")


def test_packages_of_nuget_are_unpacked_with_what_they_need(tmp_path: Path) -> None:
    group = '<group targetFramework=".NETStandard2.0"><dependency id="{0}" version="{1}"/></group>'
    dependencies = f"<dependencies>{group.format('Low', '1.0')}</dependencies>"
    both = {"lib/netstandard1.0/High.dll": b"old", "lib/netstandard2.0/High.dll": b"new", "lib/net48/High.dll": b"other"}
    files = nuget_package("High", "1.0.0", both, dependencies) | nuget_package(
        "Low", "1.5.0", {"lib/netcoreapp3.1/Low.dll": b"low"}
    )
    with served("127.0.0.1", files) as url:
        assert resolver("nuget", url, tmp_path, "High@1.0.0") == ""
        assert "no package None" in resolver("nuget", url, tmp_path, "None")
    assert {one.name: one.read_bytes() for one in tmp_path.glob("*.dll")} == {"High.dll": b"new", "Low.dll": b"low"}
    assert (tmp_path / "listing").read_text() == "high 1.0.0\nlow 1.5.0\n"


def test_a_registry_of_nuget_must_be_named_or_tells_its_parts(tmp_path: Path) -> None:
    assert "NUGET_SOURCE" in resolver("nuget", "", tmp_path, "Low")
    parts = b'{"resources": [{"@type": "PackageBaseAddress/3.0.0", "@id": "{url}/flat/"}]}'
    flat = {f"flat/{path}": body for path, body in nuget_package("Low", "1.0.0", {"lib/netstandard2.0/Low.dll": b""}).items()}
    with served("127.0.0.1", {"index.json": parts, **flat}) as url:
        assert resolver("nuget", f"{url}/index.json", tmp_path, "Low") == ""
    assert (tmp_path / "Low.dll").exists()


def test_archives_that_mean_harm_write_nothing_elsewhere(tmp_path: Path) -> None:
    folder = tmp_path / "packages"
    folder.mkdir()
    inside = {"lib/netstandard2.0/../../../evil.dll": b"", "/lib/netstandard2.0/abs.dll": b"", "lib/netstandard2.0/..dll": b""}
    files = nuget_package("Evil", "1.0.0", inside) | nuget_package("NoZip", "1.0.0", {})
    files["nozip/1.0.0/nozip.1.0.0.nupkg"] = b"no archive"
    files["odd/index.json"], files["deep/index.json"] = b'["a"]', b"[" * 100_000
    files["evilname/index.json"] = b'{"versions": ["../../x"]}'
    with served("127.0.0.1", files) as url:
        assert resolver("nuget", url, folder, "Evil") == ""
        assert "is no package" in resolver("nuget", url, folder, "NoZip")
        assert "the registry has no Odd" in resolver("nuget", url, folder, "Odd")
        assert "cannot be understood" in resolver("nuget", url, folder, "Deep")
        assert "is no name" in resolver("nuget", url, folder, "EvilName")
    assert not [one for one in tmp_path.rglob("*.dll")]


def test_a_bomb_of_an_archive_is_refused() -> None:
    package = nuget.zipfile.ZipFile(nuget.io.BytesIO(zipped({"lib/netstandard2.0/a.dll": b"0" * 100})))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(nuget, "MAX_BYTES", 10)
        with pytest.raises(nuget.RegistryError, match="more than 10 bytes"):
            nuget.libraries(package, "Bomb", set())
