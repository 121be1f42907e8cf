"""A garbage collector for the context of LLM agents."""
