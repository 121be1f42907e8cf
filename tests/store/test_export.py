import json

import pytest

from ctxgc.store import StoreCorrupt, StoreUnavailable, open_store
from ctxgc.store.export import export_bundle

from .helpers import SESSION, digest, fill, record, tamper


def files(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_bundle_holds_every_content_and_every_entry(store, tmp_path):
    store.append([record(1, body=b'{"a":1}', blobs=(b"content",))]).result()
    export_bundle(store, tmp_path / "bundle")
    written = files(tmp_path / "bundle")
    assert written[f"blobs/{digest(b'content').hex()}"] == b"content"
    assert json.loads(written["entries.jsonl"])["body"] == '{"a":1}'
    (head,) = json.loads(written["heads.json"])
    assert (head["session"], head["size"], head["root"]) == (SESSION.hex(), 1, store.root(SESSION)[1].hex())
    assert json.loads(written["seals.jsonl"].splitlines()[-1])["digest"] == store.tip().digest.hex()


def test_the_same_store_gives_the_same_bytes(store, tmp_path):
    fill(store)
    export_bundle(store, tmp_path / "one")
    export_bundle(store, tmp_path / "two")
    assert files(tmp_path / "one") == files(tmp_path / "two")


def test_a_bundle_never_holds_the_secret_and_is_private(store, tmp_path):
    fill(store)
    export_bundle(store, tmp_path / "bundle")
    everything = b"".join(files(tmp_path / "bundle").values())
    assert store.secret not in everything
    assert store.secret.hex().encode() not in everything
    modes = {path.is_dir(): path.stat().st_mode & 0o777 for path in (tmp_path / "bundle").rglob("*")}
    assert modes == {True: 0o700, False: 0o600}


def test_a_folder_in_use_is_left_alone(store, tmp_path):
    (tmp_path / "notes").write_text("mine")
    with pytest.raises(StoreUnavailable, match="is not empty: choose a new folder"):
        export_bundle(store, tmp_path)
    (tmp_path / "file").touch()
    with pytest.raises(StoreUnavailable, match="choose another folder"):
        export_bundle(store, tmp_path / "file")


def test_what_cannot_be_read_is_not_exported(closed, url, tmp_path):
    tamper(closed, "UPDATE blob SET data = substr(data, 2) WHERE id = 2")
    store = open_store(url)
    with pytest.raises(StoreCorrupt):
        export_bundle(store, tmp_path / "bundle")
    store.close()
