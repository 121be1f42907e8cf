"""The pure core: values in, values out. No I/O, clock, randomness, logging or async in this package."""
