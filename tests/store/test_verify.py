"""Whatever disagrees is named, wherever it is."""

import random
import re
import shutil

import apsw
import pytest

from ctxgc.store import StoreError, Tip, merkle, open_store

from .helpers import OTHER, SESSION, everything, fill, noise, record, tamper

TAMPERINGS = [
    ("UPDATE blob SET data = substr(data, 2) WHERE id = 2", "blob", "bytes instead of|decompress"),
    ("UPDATE blob SET enc = 0, data = zeroblob(size) WHERE id = 2", "blob", "does not match its hash"),
    ("UPDATE blob SET size = size + 1 WHERE id = 2", "blob", "bytes instead of"),
    ("UPDATE blob SET hash = randomblob(32) WHERE id = 2", "blob", "does not match its hash"),
    ("DELETE FROM blob WHERE id = 2", "node", "names a blob that is not there"),
    ("UPDATE entry SET kind = 'bypass' WHERE id = 3", "entry", "The entry 2 does not match its leaf hash"),
    ("UPDATE entry SET enc = 0, body = x'7b7d' WHERE id = 3", "entry", "does not match its leaf hash"),
    ("UPDATE entry SET leaf = randomblob(32) WHERE id = 3", "entry", "does not match its leaf hash"),
    ("UPDATE entry SET idem = randomblob(16) WHERE id = 3", "entry", "does not match its leaf hash"),
    ("UPDATE entry SET log = 2, seq = 5 WHERE id = 3", "entry", "The entry 5 is out of order"),
    ("DELETE FROM entry WHERE id = 3", "entry", "missing from 3 to before 4"),
    ("DELETE FROM entry WHERE id = 8", "entry", "missing from 8 to before 9"),
    ("INSERT INTO entry SELECT 9, 2, 2, kind, randomblob(16), leaf, enc, body FROM entry WHERE id = 8",
     "entry", "come after what the last seal counts"),
    ("PRAGMA ignore_check_constraints = ON; INSERT INTO entry SELECT -1, 2, 99, kind, randomblob(16), leaf, enc, body"
     " FROM entry WHERE id = 8", "entry", "come after what the last seal counts"),
    ("PRAGMA ignore_check_constraints = ON; INSERT INTO stub SELECT 0, 'zzzzzzzzzzzzzzzz', log, cell"
     " FROM stub WHERE id = 2", "stub", "come after what the last seal counts"),
    ("UPDATE node SET parent = -1 WHERE node = 2", "node", "chain value that its parent and message do not give"),
    ("UPDATE node SET message = randomblob(32) WHERE node = 2", "node", "do not give"),
    ("UPDATE node SET chain = randomblob(32) WHERE node = 2", "node", "do not give"),
    ("UPDATE node SET blob = 1 WHERE node = 2", "seal", "not those it was made over"),
    ("UPDATE node SET log = 2 WHERE node = 5", "node", "does not follow from the nodes before it"),
    ("DELETE FROM node WHERE id = 6", "node", "missing from 6 to before 7"),
    ("UPDATE stub SET cell = 99 WHERE id = 2", "seal", "not those it was made over"),
    ("UPDATE stub SET handle = 'zzzzzzzzzzzzzzzz' WHERE id = 2", "seal", "not those it was made over"),
    ("UPDATE stub SET log = 9 WHERE id = 2", "stub", "stands for no session"),
    ("DELETE FROM stub WHERE id = 6", "stub", "missing from 6"),
    ("UPDATE log SET session = randomblob(32) WHERE id = 2", "entry", "does not match its leaf hash"),
    ("UPDATE log SET opened = 0 WHERE id = 2", "seal", "not those it was made over"),
    ("DELETE FROM log WHERE id = 2", "log", "missing from 2"),
    ("UPDATE seal SET entries = entries - 1 WHERE id = 3", "seal", "not those it was made over"),
    ("UPDATE seal SET entries = 1 << 60 WHERE id = 3", "entry", "missing from"),
    ("UPDATE seal SET digest = randomblob(32) WHERE id = 3", "seal", "not those it was made over"),
    ("DELETE FROM seal WHERE id = 3", "seal", "Seals are missing before seal 4"),
    ("DELETE FROM seal WHERE id = 7", "entry", "come after what the last seal counts"),
    ("UPDATE meta SET value = value + 1 WHERE key = 'created'", "meta", "do not match its first seal"),
    ("UPDATE meta SET value = randomblob(32) WHERE key = 'secret'", "meta", "do not match its first seal"),
    ("INSERT INTO meta VALUES('more', 1)", "meta", "does not belong here"),
    ("DROP INDEX node_chain", "schema", "The index node_chain is missing"),
    ("CREATE TABLE more(id)", "schema", "The table more does not belong here"),
    ("CREATE VIEW v AS SELECT 1", "schema", "The view v does not belong here"),
]  # fmt: skip


def findings(url, **options):
    store = open_store(url, read_only=True)
    try:
        return list(store.verify(**options))
    finally:
        store.close()


def test_a_good_store_has_no_findings_and_progress_reaches_the_end(store):
    fill(store)
    seen = []
    assert list(store.verify(lambda done, total: seen.append((done, total)))) == []
    assert seen[-1] == (29, 29)


@pytest.mark.parametrize(("statement", "kind", "words"), TAMPERINGS)
def test_a_change_is_found_and_named(closed, url, statement, kind, words):
    tamper(closed, "PRAGMA foreign_keys = OFF", statement)
    found = findings(url)
    assert any(each.kind == kind and re.search(words, each.detail) for each in found), found


def test_a_finding_says_in_which_session_and_entry(closed, url):
    tamper(closed, "UPDATE entry SET kind = 'bypass' WHERE id = 3")
    finding = next(each for each in findings(url) if each.kind == "entry")
    assert (finding.session, finding.seq, finding.ref) == (SESSION.hex(), 2, "entry 3")


def test_a_change_is_not_blamed_on_what_comes_after_it(closed, url):
    tamper(closed, "UPDATE stub SET cell = 99 WHERE id = 2")
    assert [each.ref for each in findings(url)] == ["seal 2"]


@pytest.mark.parametrize("table", ["meta", "log", "blob", "node", "stub", "entry", "seal"])
def test_a_missing_guard_is_found(closed, url, table):
    tamper(closed, f"DROP TRIGGER {table}_replace", unguarded=False)
    assert [each.ref for each in findings(url)] == [f"trigger {table}_replace"]


def test_a_guard_that_does_nothing_is_found(closed, url):
    create = "CREATE TRIGGER log_delete BEFORE DELETE ON log BEGIN SELECT 1; END"
    tamper(closed, "DROP TRIGGER log_delete", create, unguarded=False)
    assert [each.detail for each in findings(url)] == ["The trigger log_delete is not as it was made."]


def test_newest_rows_cut_off_together_are_found_with_a_tip_kept_outside(closed, url):
    store = open_store(url)
    tip = store.tip()
    store.close()
    cut = ("entry WHERE log = 2", "blob WHERE id = 7", "log WHERE id = 2", "seal WHERE id = 7")
    tamper(closed, *(f"DELETE FROM {rows}" for rows in cut))
    assert findings(url) == []  # a shorter store, whole in itself
    assert [each.kind for each in findings(url, held=tip)] == ["tip"]


def test_a_store_written_anew_is_found_with_a_tip_kept_outside(closed, url):
    assert [each.kind for each in findings(url, held=Tip(3, bytes(32)))] == ["tip"]


def test_verifying_while_others_write_finds_nothing(url):
    reading, writing = open_store(url, create=True), open_store(url)
    fill(reading)
    checks = reading.verify(lambda done, total: writing.append([record(total + done, OTHER)]).result())
    assert list(checks) == []
    assert list(reading.verify()) == []
    reading.close()
    writing.close()


def test_a_file_cut_short_is_a_finding_or_a_clear_error(closed, url):
    data = closed.read_bytes()
    for pages in range(1, len(data) // 4096, 5):
        closed.write_bytes(data[: pages * 4096])
        assert detected(url)


# Flipped bits -----------------------------------------------------------------------------------------------------


@pytest.fixture
def small(closed, url):
    """A store with small pages, so that there are few unused bytes; and what it says."""
    small = closed.with_name("small.db")
    db = apsw.Connection(str(closed))
    db.execute("PRAGMA journal_mode = DELETE")
    db.execute("PRAGMA page_size = 512")
    db.execute(f"VACUUM INTO '{small}'")
    db.close()
    shutil.move(small, closed)
    store = open_store(url, read_only=True)
    said = everything(store)
    assert list(store.verify()) == []
    store.close()
    return closed.read_bytes(), said


def detected(url):
    try:
        return bool(findings(url))
    except StoreError:
        return True


def unchanged(url, said):
    store = open_store(url, read_only=True)
    try:
        return everything(store) == said
    finally:
        store.close()


def flipped(data, place, dice):
    return data[:place] + bytes([data[place] ^ 1 << dice.randrange(8)]) + data[place + 1 :]


def assert_every_flip_is_detected_or_harmless(path, url, small, places):
    data, said = small
    dice = random.Random(1)
    for place in places:
        path.write_bytes(flipped(data, place, dice))
        assert detected(url) or unchanged(url, said), place


def test_a_flipped_bit_is_detected_or_harmless(closed, url, small):
    places = random.Random(2).sample(range(len(small[0])), 400)
    assert_every_flip_is_detected_or_harmless(closed, url, small, places)


@pytest.mark.slow
def test_a_flipped_bit_in_any_byte_is_detected_or_harmless(closed, url, small):
    assert_every_flip_is_detected_or_harmless(closed, url, small, range(len(small[0])))


def tree_only(url, roots):
    """A verifier that believes stored leaves: what not to do."""
    try:
        store = open_store(url, read_only=True)
    except StoreError:
        return True
    try:
        return {session: store.root(session) for session in (SESSION, OTHER)} != roots
    except StoreError:
        return True
    finally:
        store.close()


def test_a_verifier_of_the_tree_only_would_miss_changed_contents(closed, url, small):
    store = open_store(url, read_only=True)
    roots = {session: store.root(session) for session in (SESSION, OTHER)}
    store.close()
    tamper(closed, "UPDATE blob SET enc = 0, data = zeroblob(size)", "UPDATE entry SET enc = 0, body = x'7b7d'")
    assert not tree_only(url, roots)
    assert {each.kind for each in findings(url)} == {"blob", "entry"}


def test_flipped_bits_in_contents_are_missed_by_the_tree_and_found_by_verify(url, path):
    store = open_store(url)
    content = noise(3, 3000)
    store.append([record(1, blobs=(content,))]).result()
    roots = {SESSION: store.root(SESSION), OTHER: (0, merkle.EMPTY)}
    store.close()
    data, dice = path.read_bytes(), random.Random(4)
    start = data.index(content[:64])
    for place in dice.sample(range(start, start + len(content)), 20):
        path.write_bytes(flipped(data, place, dice))
        assert not tree_only(url, roots)
        assert detected(url)


def test_a_flipped_bit_in_the_log_is_detected_or_cuts_the_end_off(url, path, tmp_path):
    store = open_store(url)
    fill(store)
    tip, said = store.tip(), everything(store)
    data, log = path.read_bytes(), path.with_name("audit.db-wal").read_bytes()
    store.close()
    copy = tmp_path / "copy.db"
    dice = random.Random(5)
    for place in dice.sample(range(len(log)), 60):
        copy.write_bytes(data)
        copy.with_name("copy.db-wal").write_bytes(flipped(log, place, dice))
        copy.with_name("copy.db-shm").unlink(missing_ok=True)
        where = f"sqlite:///{copy}"
        assert bool(findings(where, held=tip)) or unchanged(where, said), place
