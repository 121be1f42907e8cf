"""The documents of the page: plain values made of a session's journal, its store and its ledger.

Rule: a document is a pure function of entries (and of the store, where it has texts). Its keys stay and keep their
meaning; more may be added. Every string may hold text of users, models or tools, and is only ever text.

Requests (turns) are counted from 1, cells from 0. All figures are tokens as ctxgc counts them, unless something else is
said; times are Unix seconds. "As sent" is with the edits of that moment, "as received" without. Amounts of money are in
USD where ``usd``, and else in prices of one input token.

``ctxgc.page.session/1`` (``SessionView.summary``)

- ``last``: when the newest request began or ended, whatever was pinned or noted since.
- ``window``: the input window of the newest request's model (0: not known); ``high`` and ``low``: where room is made
  in it, and down to where; ``quality``: the budget for a request whatever its cost (0: none). ``plain``: all edits were
  taken back. ``exact``: all cells were counted with their model's own tokenizer. ``entries``: of the journal, taken.
- ``turns``: a column for each figure. ``received`` and ``sent``: tokens by family of tags, and their totals. ``fresh``:
  what no earlier request carried, as it came; ``fresh_sent``: the same as it left; ``prefix_sent``: what it shares from
  its first byte on with an earlier request of the same model and tools: the longest that a prefix cache can hold.
  ``reported``, ``cached``, ``output``: as the provider billed them (null: it said nothing). ``again``: ctxgc sent it
  once more, for what the model recalled: it was received from nobody. ``net``: by the pacer's prices, what all input up
  to here would have cost untouched, less what it cost: rewriting, recalls, rounds and questions about summaries count.
- ``collections``: each as ``ctxgc.lab.gc_log`` has it: sizes of the cells changed and of the whole request before and
  after, ``rewritten`` tokens sent once more outside of the cache, ``rent`` and ``price`` that it was decided by,
  ``saving`` for each turn since, the split of the request's input as ``predicted`` and as ``billed``, and the ``span``
  that a record stands for, by turns.
- ``tiles``: a figure each, with the ``window`` it is about and its ``source``; ``value`` is null where it is not known.
- ``by_tag``, ``by_site``: rows as ``ctxgc.lab.profile.Row`` defines them.
- ``tools``: ``tokens`` of the newest schema, ``requests`` that carried one, ``calls``, those of the newest reply
  included, and the newest request that came with one, or was answered with one (0: none).

``ctxgc.page.cells/1`` (``SessionView.cells``), by cell

- ``turn``: the request that it came with, or was made with. ``tokens``: its size as it came (0: it is ctxgc's own);
  ``sent``: as it would be sent now. ``resident``: the newest request of the main history carries it.
- ``retained``: the tokens that would be freed if it went: its own and those of its partner, where both are resident (a
  call keeps its results, and a result its call if that has no other), less the stub that is left behind.
- ``token_turns``: ``tokens`` times the requests it came with; ``sent_turns``: the tokens that were sent for it.
- ``cost``: what these cost: at the model's price of a cache write the first time, of a cache read from then on.
- ``references``: turns that referred to it; ``referenced``: the newest request that did (0: none); ``kept_by``: who
  did, the newest last.
- ``generation``: permanent (system prompts, schemas, pins), eden (new in the newest request), young (of its last 8
  turns), old, or gone (not resident). ``verdict``: how it stands in the newest request. ``handle``: reads it back.

``ctxgc.page.cell/1``, ``ctxgc.page.diff/1``, ``ctxgc.page.books/1``, ``ctxgc.page.trace/1`` and
``ctxgc.page.reconcile/1``: texts are null where content is left out, and cut at 200,000 characters.
"""

from ctxgc.web.views.books import books_document, reconcile_document, trace_document
from ctxgc.web.views.cell import Unknown
from ctxgc.web.views.diff import diff_document
from ctxgc.web.views.session import SessionView, cell_document

__all__ = [
    "SessionView",
    "Unknown",
    "books_document",
    "cell_document",
    "diff_document",
    "reconcile_document",
    "trace_document",
]
