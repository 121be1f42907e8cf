"""An MCP server over a store: an agent reads back what was taken out of its context, and searches its own history."""
