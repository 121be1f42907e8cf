"""``ctxgc top``: a store watched in the terminal.

Rule: it reads and never writes, and shows the documents that the profiler page shows, so that both say the same.
"""
