"""Names of spans, events, attributes and instruments, each group with its source.

Rule: names stand here and nowhere else. Those of the GenAI conventions are in development and change; the constants of
OpenTelemetry's own package are older than they, so none of those are used.
"""

from __future__ import annotations

from typing import Final

SCOPE: Final = "ctxgc"

# Span names. SERVER and INTERNAL ones are constant; the CLIENT span is "chat MODEL", as the GenAI conventions say.
SERVER_SPAN: Final = "POST /v1/chat/completions"
COLLECT_SPAN: Final = "ctxgc collect"
CHAT: Final = "chat"

# Stable: https://opentelemetry.io/docs/specs/semconv/registry/attributes/ (http, url, server, error, user-agent)
METHOD: Final = "http.request.method"
STATUS: Final = "http.response.status_code"
SCHEME: Final = "url.scheme"
PATH: Final = "url.path"
AGENT: Final = "user_agent.original"
ADDRESS: Final = "server.address"
PORT: Final = "server.port"
ERROR: Final = "error.type"

# In development: https://github.com/open-telemetry/semantic-conventions-genai/blob/main/docs/gen-ai/gen-ai-spans.md
OPERATION: Final = "gen_ai.operation.name"
PROVIDER: Final = "gen_ai.provider.name"
CONVERSATION: Final = "gen_ai.conversation.id"
COMPACTED: Final = "gen_ai.conversation.compacted"
REQUEST_MODEL: Final = "gen_ai.request.model"
STREAM: Final = "gen_ai.request.stream"
RESPONSE_MODEL: Final = "gen_ai.response.model"
RESPONSE_ID: Final = "gen_ai.response.id"
FINISH: Final = "gen_ai.response.finish_reasons"
FIRST_CHUNK: Final = "gen_ai.response.time_to_first_chunk"
INPUT: Final = "gen_ai.usage.input_tokens"
OUTPUT: Final = "gen_ai.usage.output_tokens"
CACHE_READ: Final = "gen_ai.usage.cache_read.input_tokens"
CACHE_WRITE: Final = "gen_ai.usage.cache_write.input_tokens"
CACHE_CREATION: Final = "gen_ai.usage.cache_creation.input_tokens"
"""What ``CACHE_WRITE`` was called before (changelog 440): back ends that lag behind read this one only."""
REASONING: Final = "gen_ai.usage.reasoning.output_tokens"
INPUT_MESSAGES: Final = "gen_ai.input.messages"
OUTPUT_MESSAGES: Final = "gen_ai.output.messages"
TOOL_DEFINITIONS: Final = "gen_ai.tool.definitions"
TOKEN_TYPE: Final = "gen_ai.token.type"
MODALITY: Final = "gen_ai.token.modality"
DETAILS_EVENT: Final = "gen_ai.client.inference.operation.details"

# In development: .../docs/gen-ai/gen-ai-metrics.md and gen-ai-token-metrics.md, and (the first three) their state
# before changelogs 374 and 521, which is what dashboards in the field still query.
DURATION: Final = "gen_ai.client.operation.duration"
TIME_TO_FIRST_CHUNK: Final = "gen_ai.client.operation.time_to_first_chunk"
TOKEN_USAGE: Final = "gen_ai.client.token.usage"
INFERENCE_DURATION: Final = "gen_ai.client.inference.duration"
INFERENCE_FIRST_CHUNK: Final = "gen_ai.client.inference.time_to_first_chunk"
USAGE_INPUT: Final = "gen_ai.client.inference.usage.input_tokens"
USAGE_OUTPUT: Final = "gen_ai.client.inference.usage.output_tokens"
USAGE_CACHE_READ: Final = "gen_ai.client.inference.usage.cache_read.input_tokens"
USAGE_CACHE_WRITE: Final = "gen_ai.client.inference.usage.cache_write.input_tokens"
USAGE_REASONING: Final = "gen_ai.client.inference.usage.reasoning.output_tokens"
OPERATION_INPUT: Final = "gen_ai.client.inference.operation.input_tokens"
OPERATION_OUTPUT: Final = "gen_ai.client.inference.operation.output_tokens"
LATEST: Final = "gen_ai_latest_experimental"
"""The word in ``OTEL_SEMCONV_STABILITY_OPT_IN`` that adds the newest names to the old ones."""

# OpenInference: https://github.com/Arize-ai/openinference/blob/main/spec/semantic_conventions.md. Phoenix and Langfuse
# group by ``session.id``, and show spans without a kind of theirs as unknown.
SESSION: Final = "session.id"
SPAN_KIND: Final = "openinference.span.kind"
CHAIN: Final = "CHAIN"

# Our own.
TURN: Final = "ctxgc.turn"
ENTRY: Final = "ctxgc.audit.entry_id"
"""The id (hex) under which all journal entries of the request stand in the audit store: their ``call``."""
AGAIN: Final = "ctxgc.round"
"""True for a request that no client asked for: a further round, with what the model recalled."""
FIRST_TOKEN: Final = "ctxgc.response.time_to_first_token"
OVERHEAD: Final = "ctxgc.overhead"
RECEIVED: Final = "ctxgc.context.tokens.received"
FORWARDED: Final = "ctxgc.context.tokens.forwarded"
MESSAGES_RECEIVED: Final = "ctxgc.context.messages.received"
MESSAGES_FORWARDED: Final = "ctxgc.context.messages.forwarded"
WINDOW: Final = "ctxgc.context.window.size"
TAG_TOKENS: Final = "ctxgc.context.tokens.tag."
"""With a family of tags behind it: the tokens of that family as forwarded."""
GC_ID: Final = "ctxgc.gc.id"
"""The number of the request in its session, as ``ctxgc gc-log`` and ``ctxgc diff`` count them."""
GC_TRIGGER: Final = "ctxgc.gc.trigger"
GC_POLICY: Final = "ctxgc.gc.policy"
GC_OUTCOME: Final = "ctxgc.gc.outcome"
GC_GENERATION: Final = "ctxgc.gc.generation"
GC_ITEMS: Final = "ctxgc.gc.items.collected"
GC_TOKENS: Final = "ctxgc.gc.tokens.collected"
INVALIDATED: Final = "ctxgc.cache.invalidated_tokens"
TAG: Final = "ctxgc.tag"
ACTION: Final = "ctxgc.gc.action"
REASON: Final = "ctxgc.reason"
CELL: Final = "ctxgc.cell.id"
CELL_TOKENS: Final = "ctxgc.cell.tokens"
BEFORE: Final = "ctxgc.gc.tokens.before"
AFTER: Final = "ctxgc.gc.tokens.after"
BY: Final = "ctxgc.recall.by"
FOUND: Final = "ctxgc.recall.found"
RULE: Final = "ctxgc.leak.rule"
SHARE: Final = "ctxgc.leak.share"
SUBJECT: Final = "ctxgc.leak.subject"
COLLECTION_EVENT: Final = "ctxgc.gc.collection"
ITEM_EVENT: Final = "ctxgc.gc.item"
RESURRECTION_EVENT: Final = "ctxgc.resurrection"
SUSPECT_EVENT: Final = "ctxgc.leak_suspect"
FAIL_OPEN_EVENT: Final = "ctxgc.fail_open"

# The environment. The last two follow OTEL_INSTRUMENTATION_<library>_<what>, as instrumentations name their switches.
CAPTURE: Final = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
OPT_IN: Final = "OTEL_SEMCONV_STABILITY_OPT_IN"
ITEMS: Final = "OTEL_INSTRUMENTATION_CTXGC_ITEMS"
