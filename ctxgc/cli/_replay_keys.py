"""What ``ctxgc replay --json`` means, word for word as its help says it.

Rule: schema ``ctxgc.replay/1``. Every key of the document is explained; keys may be added, none changes its meaning.
"""

SCHEMA = "ctxgc.replay/1"
KEYS = """\b
--json: one document, schema ctxgc.replay/1. Keys may be added, none changes.
Token figures are calibrated to reported usage, but for those named
*_counted, which are our own counts.

\b
policies, classes[] (name, read, write: prices relative to an uncached token),
size, min_tokens: what was asked for
small      segments left out for their size
errors[]   files that could not be read (--keep-going)
sessions[] one per segment of a transcript:
  id, source (its file), model (the one its tokens are counted for)
  turns      requests
  prefix, factor, usages  the calibration: prefix + factor * our count, from
             so many reported usages (0: none)
  peak, peak_counted      tokens of the largest request
  reported   input the provider reported last (0: never)
  received, received_counted  tokens of all requests as they came
  runs[]     one per policy and class:
    policy, class
    sent, sent_counted  tokens of all requests as they left
    read, written       of these, read from the cache and written to it
    cost_ratio          input cost relative to never collecting
    needed     lines of earlier results that the agent used again
    visible    of these, lines that were still in a result that was sent
    named      of these, those whose term was anywhere in the request
    recallable of those not visible, those that a handle in it gives back
    survival   visible / needed (1 where none was needed)
    rewrites   requests that changed what had been sent already
    rewritten  tokens sent again behind such a change
    invalid    requests that broke a rule of their format
    broken[]   the rule that each of them broke
    bypasses   requests that went on as they came, because of us
    collections  how many there were, by generation
    compactions  of the major ones, those that left out a span for a record
    prepare_seconds, admit_seconds  time in the session: before a request
               leaves, and after
    by_tag, by_use  needed, visible, named, recallable, survival by who gave
               the result, and by where the agent used it
totals[]   one per policy and class, over all sessions: the same, and
  sessions
  cost_ratio   cost of all sessions together / of never collecting
  cost_ratios, survivals, sent_ratios, rewrite_ratios
             p10, median, p90, worst over sessions
  sent_ratio   tokens sent / received
  rewrite_ratio  share of turns that changed what had been sent"""
