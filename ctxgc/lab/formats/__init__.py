"""A profile in the formats of other profilers: folded stacks, speedscope's JSON, and pprof.

Rule: a pure function of profiles; in each format the weights of a session sum to its profile's totals.
"""

from ctxgc.lab.formats.folded import folded as folded
from ctxgc.lab.formats.pprof import pprof as pprof
from ctxgc.lab.formats.speedscope import speedscope as speedscope
