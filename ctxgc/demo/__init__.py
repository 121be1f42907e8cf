"""The demo: a scripted coding session, played straight to a scripted model and through the real proxy.

Rule: nothing is random and nothing leaves the machine; every figure shown is counted from what was really sent.
"""
