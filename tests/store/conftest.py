import pytest

from ctxgc.store import open_store

from .helpers import fill


@pytest.fixture
def path(tmp_path):
    return tmp_path / "audit.db"


@pytest.fixture
def url(path):
    return f"sqlite:///{path}"


@pytest.fixture
def store(url):
    store = open_store(url)
    yield store
    store.close()


@pytest.fixture
def closed(url, path):
    """The file of a filled store that nobody has open."""
    store = open_store(url)
    fill(store)
    store.close()
    return path
