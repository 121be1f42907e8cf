"""Examples that run: programs that use ctxgc as a host would, and check what they claim.

Rule: an example prints figures that it has measured, and ends with an error where one is not what is promised.
"""
