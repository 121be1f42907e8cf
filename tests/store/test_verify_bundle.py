"""The second opinion: one file that shares no code with the store."""

import ast
import json
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ctxgc.store import verify_bundle as script
from ctxgc.store.export import export_bundle
from ctxgc.store.verify_bundle import main, verify_bundle

from .helpers import fill


@pytest.fixture
def bundle(store, tmp_path):
    fill(store)
    export_bundle(store, tmp_path / "bundle")
    return tmp_path / "bundle"


def all_bytes(bundle):
    return [
        (path, place) for path in sorted(bundle.rglob("*")) if path.is_file() for place in range(path.stat().st_size)
    ]


def assert_flips_are_found(bundle, places):
    dice = random.Random(1)
    for path, place in places:
        data = path.read_bytes()
        path.write_bytes(data[:place] + bytes([data[place] ^ 1 << dice.randrange(8)]) + data[place + 1 :])
        assert verify_bundle(bundle), (path.name, place)
        path.write_bytes(data)


def test_a_good_bundle_agrees(bundle):
    assert verify_bundle(bundle) == []


def test_an_empty_store_agrees(store, tmp_path):
    export_bundle(store, tmp_path / "bundle")
    assert verify_bundle(tmp_path / "bundle") == []


def test_a_flipped_bit_is_found(bundle):
    assert_flips_are_found(bundle, random.Random(2).sample(all_bytes(bundle), 300))


@pytest.mark.slow
def test_a_flipped_bit_in_any_byte_is_found(bundle):
    assert_flips_are_found(bundle, all_bytes(bundle))


def test_a_lenient_parser_would_miss_another_spelling(bundle):
    path = bundle / "heads.json"
    data = path.read_bytes()
    path.write_bytes(data.replace(b'":', b'": ', 1))
    assert json.loads(path.read_bytes()) == json.loads(data)
    assert verify_bundle(bundle)


def test_every_line_is_needed(bundle):
    for path in bundle.glob("*.jsonl"):
        data = path.read_bytes()
        lines = data.splitlines(keepends=True)
        for number in range(len(lines)):
            path.write_bytes(b"".join(lines[:number] + lines[number + 1 :]))
            assert verify_bundle(bundle), (path.name, number)
        path.write_bytes(data)


def test_every_file_is_needed_and_none_more(bundle):
    for path in [path for path in bundle.rglob("*") if path.is_file()]:
        data = path.read_bytes()
        path.unlink()
        assert verify_bundle(bundle), path.name
        path.write_bytes(data)
    (bundle / "blobs" / "more").touch()
    assert any("blobs/more" in word for word in verify_bundle(bundle))


def test_it_is_one_file_of_the_standard_library():
    tree = ast.parse(Path(script.__file__).read_text())
    imported = {name.name for node in ast.walk(tree) if isinstance(node, ast.Import) for name in node.names}
    imported |= {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert {name.split(".")[0] for name in imported} <= sys.stdlib_module_names


def test_it_runs_alone(bundle, tmp_path):
    alone = shutil.copy(script.__file__, tmp_path / "verify_bundle.py")
    run = [sys.executable, "-I", alone, bundle]
    good = subprocess.run(run, capture_output=True, text=True)
    assert (good.returncode, good.stdout, good.stderr) == (0, "everything agrees\n", "")
    (bundle / "stubs.jsonl").write_bytes(b"")
    bad = subprocess.run(run, capture_output=True, text=True)
    assert (bad.returncode, bad.stderr) == (1, "")
    assert "stubs" in bad.stdout


def test_it_says_how_to_use_it(capsys):
    assert main([]) == 2
    assert main(["/no/such/folder"]) == 2
    assert "usage" in capsys.readouterr().err
