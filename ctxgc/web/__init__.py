"""The profiler page: the documents that it draws, the server that hands them out, and the page itself.

Rule: the page shows what the journal says and nothing else; text of users, models and tools is only ever text.
"""
