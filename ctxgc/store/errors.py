"""What can go wrong with a store, by whose fault it is and what to do about it.

Rule: the text of every error is one line that ends with what to do.
"""


class StoreError(Exception):
    """The store could not do what was asked; `str(error)` is one line that says what to do."""


class StoreVersionError(StoreError):
    """The file, or the SQLite library, is none that this version of ctxgc can work with."""


class StoreUnavailable(StoreError):
    """The store cannot be reached or written now: absent, read-only, closed, overloaded, an I/O error.

    When it comes from an append, the outcome is unknown: append again with the same `idem`.
    """


class StoreBusy(StoreUnavailable):
    """Another process held the write lock for longer than the bounded wait; nothing was written."""


class StoreFull(StoreError):
    """No space is left on the disk; the store goes on by itself once there is some."""


class StoreCorrupt(StoreError):
    """What is stored contradicts itself; `Store.verify` names everything that does."""


class StoreRefused(StoreError):
    """The record breaks a rule of the store: the caller's fault, and a retry as it is cannot help."""


class StoreConflict(StoreRefused):
    """The entry was to get a position (`Record.at`) that its log has passed, or not come to.

    Nothing of its append is stored. Read the log on from there, make the entry anew, and append that.
    """


class StoreMissing(StoreError, LookupError):
    """No such blob in this store."""
