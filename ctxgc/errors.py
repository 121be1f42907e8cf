"""The errors of ctxgc: few, and each says whose fault it was and what to do.

Rule: one clear line, no traceback; the command line maps each to its exit code.
"""

from __future__ import annotations


class CtxgcError(Exception):
    """Base of everything that ctxgc raises on purpose. ``exit_code`` is what the command line returns for it."""

    exit_code = 1


class ConfigError(CtxgcError):
    """The configuration is wrong: an unknown key, a bad value, an unknown policy."""

    exit_code = 3


class InputError(CtxgcError):
    """The input cannot be read or is of no known format, or a store is of another version, locked or damaged."""

    exit_code = 4


class BindError(CtxgcError):
    """The proxy cannot listen where it was told to, or cannot use its upstream."""

    exit_code = 5


class UnknownHandle(CtxgcError):
    """No content has that handle in that session (or it belongs to another: the answer is the same)."""

    exit_code = 4


class LedgerError(CtxgcError):
    """A ledger refuses: a booking that breaks its rules, a close that does not agree, pins that do not fit."""

    exit_code = 6


class NotVerified(LedgerError):
    """A verifier did not find in a voucher what was expected of it: the line says what, and what was found."""

    exit_code = 6
