"""A store from the outside: what goes in comes out, from any thread, and by several writers at once."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ctxgc.store import KINDS, Node, Record, StoreCorrupt, StoreMissing, StoreUnavailable, Stub, merkle, open_store
from ctxgc.store.connection import Place
from ctxgc.store.digests import NO_PARENT, chain
from ctxgc.store.sqlite import SqliteStore

from .helpers import OTHER, SESSION, digest, everything, fill, noise, path_of_nodes, record, tamper


def test_an_entry_comes_back_as_it_was(store):
    store.append([record(1, kind="open", body='{"é":1}'.encode())]).result()
    (entry,) = store.entries(SESSION)
    assert (entry.seq, entry.kind, entry.body, entry.idem) == (0, "open", '{"é":1}'.encode(), record(1).idem)


def test_an_acknowledged_append_is_there_for_another_reader(store, url):
    store.append([record(1, blobs=(b"content",))]).result()
    other = open_store(url, read_only=True)
    assert other.blob(digest(b"content")) == b"content"
    assert other.secret == store.secret
    other.close()


def test_a_store_opened_again_is_the_same(url):
    store = open_store(url)
    fill(store)
    before = everything(store)
    store.close()
    store = open_store(url)
    assert everything(store) == before
    store.close()


def test_a_content_is_kept_once(store):
    content = bytes(range(256)) * 100
    store.append([record(1, blobs=(content, content)), record(2, OTHER, blobs=(content,))]).result()
    assert [raw[0] for raw in store.rows().select("blob", 0, 99)] == [1]


def test_find_names_the_newest_session_with_a_prefix(store):
    a, b = path_of_nodes([b"a", b"b"])
    store.append([record(1, blobs=(b"a", b"b"), nodes=(a, b))]).result()
    store.append([record(1, OTHER, nodes=(a,))]).result()
    assert store.find(a.chain) == OTHER
    assert store.find(b.chain) == SESSION
    assert store.find(digest(b"never")) is None


def test_a_branch_is_a_second_child(store):
    a, b = path_of_nodes([b"a", b"b"])
    other = Node(2, 0, chain(a.chain, digest(b"m")), digest(b"m"), digest(b"a"))
    store.append([record(1, blobs=(b"a", b"b"), nodes=(a, b, other))]).result()
    assert list(store.nodes(SESSION)) == [a, b, other]


def test_a_handle_resolves_to_its_cell_and_a_forged_one_to_nothing(store):
    store.append([record(1, stubs=(Stub("a" * 16, 7),))]).result()
    assert store.resolve("a" * 16) == (SESSION, 7)
    assert store.resolve("b" * 16) is None


def test_sessions_are_listed_with_their_sizes(path):
    store = SqliteStore(Place(path), clock=lambda: 1234)
    fill(store)
    assert [(row.key, row.opened, row.entries, row.nodes) for row in store.sessions()] == [
        (SESSION, 1234, 6, 6),
        (OTHER, 1234, 2, 0),
    ]
    store.close()


def test_the_root_is_the_tree_head_over_the_leaves(store):
    assert store.root(SESSION) == (0, merkle.EMPTY)
    fill(store, 5)
    leaves = [entry.leaf for entry in store.entries(SESSION)]
    assert store.root(SESSION) == (5, merkle.root(leaves))


def test_long_journals_are_read_page_by_page(store):
    store.append([record(number) for number in range(1200)]).result()
    assert [entry.seq for entry in store.entries(SESSION)] == list(range(1200))
    assert store.root(SESSION)[0] == 1200


def test_a_half_read_journal_does_not_hold_up_the_writer(store):
    store.append([record(number) for number in range(200)]).result()
    reading = store.entries(SESSION)
    next(reading)
    store.append([record(200)]).result()
    assert len(list(reading)) == 200


def test_an_absent_blob_is_missing(store):
    with pytest.raises(StoreMissing, match="there is no blob"):
        store.blob(digest(b"never"))
    with pytest.raises(LookupError):
        store.blob(b"")


def test_a_changed_blob_is_not_handed_out(closed, url):
    tamper(closed, "UPDATE blob SET enc = 0, data = zeroblob(size)")
    store = open_store(url)
    for raw in list(store.rows().select("blob", 0, 99)):
        with pytest.raises(StoreCorrupt, match="does not match its hash"):
            store.blob(raw[1])
    store.close()


@pytest.mark.parametrize("change", ["kind = 'gap '", "seq = seq + 100", "idem = randomblob(16)", "leaf = zeroblob(32)"])
def test_a_changed_entry_is_not_handed_out(closed, url, change):
    tamper(closed, f"UPDATE entry SET {change} WHERE id = 1")
    store = open_store(url)
    with pytest.raises(StoreCorrupt, match="does not match its leaf"):
        list(store.entries(SESSION))
    store.close()


def test_a_store_in_memory_is_a_store(tmp_path):
    store, other = open_store("sqlite://"), open_store("sqlite://")
    fill(store)
    assert list(store.verify()) == []
    assert store.size() > 0
    assert other.sessions() == []
    store.close()
    other.close()


def test_a_store_opened_for_reading_writes_nothing(closed, url):
    store = open_store(url, read_only=True)
    with pytest.raises(StoreUnavailable, match="open it for writing"):
        store.append([record(1)]).result()
    store.flush()
    store.close()


def test_a_closed_store_says_so(url):
    store = open_store(url)
    store.close()
    store.close()
    with pytest.raises(StoreUnavailable, match="closed"):
        store.append([record(1)]).result()
    with pytest.raises(StoreUnavailable, match="closed"):
        store.sessions()


def test_closing_leaves_one_file_and_size_counts_the_log(url, path):
    store = open_store(url)
    fill(store)
    assert store.size() == sum(file.stat().st_size for file in path.parent.iterdir() if file.suffix != ".db-shm")
    store.close()
    assert list(path.parent.iterdir()) == [path]


def test_two_stores_on_one_file_lose_nothing(url):
    one, two = open_store(url), open_store(url)
    futures = [(one, two)[number % 2].append([record(number)]) for number in range(200)]
    assert [future.exception() for future in futures] == [None] * 200
    assert sorted(int.from_bytes(entry.idem, "big") for entry in one.entries(SESSION)) == list(range(200))
    assert list(two.verify()) == []
    one.close()
    two.close()


def test_any_thread_reads_while_another_appends(store):
    fill(store)
    (first, *_) = store.nodes(SESSION)

    def read(number):
        store.append([record(number + 100)]).result()
        return store.blob(first.blob)[:9], store.find(first.chain), len(list(store.entries(OTHER)))

    with ThreadPoolExecutor(8) as threads:
        assert set(threads.map(read, range(80))) == {(b"message 0", SESSION, 2)}
    assert store.root(SESSION)[0] == 86


def test_a_full_disk_stops_appends_until_there_is_space(tmp_path):
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", tmp_path], capture_output=True)
    if mounted.returncode:
        pytest.skip("needs the right to mount a tmpfs")
    try:
        ballast = tmp_path / "ballast"
        ballast.write_bytes(bytes(1_200_000))
        store = open_store(f"sqlite:///{tmp_path}/audit.db")
        errors = [store.append([record(n, blobs=(noise(n, 60_000),))]).exception() for n in range(20)]
        assert errors[0] is None
        assert "no space left" in str(errors[-1])
        ballast.unlink()
        assert store.append([record(99)]).exception() is None
        acked = [number for number, error in enumerate(errors) if error is None]
        stored = [int.from_bytes(entry.idem, "big") for entry in store.entries(SESSION)]
        assert stored == [*acked, 99]
        assert list(store.verify()) == []
        store.close()
    finally:
        subprocess.run(["umount", "--lazy", tmp_path], check=True)


def test_importing_the_package_does_not_load_sqlite():
    code = "import sys, ctxgc.store; print({'apsw', 'zstandard', 'concurrent.futures'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "set()\n"


@st.composite
def histories(draw):
    """Records of a few sessions, with tries that branch at will."""
    tries: dict[bytes, list[Node]] = {SESSION: [], OTHER: []}
    records = []
    for number in range(draw(st.integers(0, 12))):
        session = draw(st.sampled_from([SESSION, OTHER]))
        contents = draw(st.lists(st.binary(max_size=200), max_size=4))
        known = len(tries[session])
        for content in contents:
            tries[session].append(_grown(draw, tries[session], content))
        records.append(
            Record(
                session,
                draw(st.sampled_from(sorted(KINDS))),
                draw(st.text(max_size=200)).encode(),
                number.to_bytes(16, "big"),
                tuple(contents),
                tuple(tries[session][known:]),
                tuple(Stub(f"{'abcdefghijkl'[number]}{'234567'[cell]}" * 8, cell) for cell in range(known % 3)),
            )
        )
    return records


def _grown(draw, nodes, content):
    parent = draw(st.integers(-1, len(nodes) - 1))
    above = nodes[parent].chain if parent >= 0 else NO_PARENT
    message = digest(b"canonical" + content)
    return Node(len(nodes), parent, chain(above, message), message, digest(content))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(histories(), st.data())
def test_any_sequence_of_records_reads_back_equal_and_verifies(records, data):
    store = open_store("sqlite://")
    rest = list(records)
    while rest:
        size = data.draw(st.integers(1, len(rest)))
        store.append(rest[:size])
        del rest[:size]
    store.flush()
    for session in (SESSION, OTHER):
        mine = [each for each in records if each.session == session]
        read = [(entry.kind, entry.body, entry.idem) for entry in store.entries(session)]
        assert read == [(each.kind, each.body, each.idem) for each in mine]
        assert list(store.nodes(session)) == [node for each in mine for node in each.nodes]
        assert all(store.resolve(stub.handle) == (session, stub.cell) for each in mine for stub in each.stubs)
    assert all(store.blob(digest(blob)) == blob for each in records for blob in each.blobs)
    assert list(store.verify()) == []
    store.close()
