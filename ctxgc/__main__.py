"""``python -m ctxgc``: the command line. Rule: nothing happens on import, which worker processes do as well."""

from ctxgc.cli import main

if __name__ == "__main__":
    main()
