"""The lab: transcripts in, figures out. What runs here is the very session that stands behind the proxy."""
