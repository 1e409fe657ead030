"""What is counted and measured: `/metrics` for Prometheus, and the spans and GenAI metrics of OpenTelemetry, which are no-ops unless configured.

No label ever holds a client's text: not the model it asked for, not a path that we do not serve.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, final

from opentelemetry import metrics as otel_metrics
from opentelemetry import propagate, trace
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

from sendable.conversation import Usage

CONTENT_TYPE = CONTENT_TYPE_LATEST

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0)

PROVIDERS = {
    "openai-chat": "openai",
    "openai-responses": "openai",
    "anthropic": "anthropic",
    "gemini": "gcp.gemini",
    "bedrock-converse": "aws.bedrock",
}
"""`gen_ai.provider.name` of each upstream dialect, as the semantic conventions spell it."""


@final
class Metrics:
    """The counters of one server, in a registry of their own. Children of labels are looked up once."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._requests = Counter(
            "sendable_requests", "Requests answered", ["dialect", "route", "status"], registry=self.registry
        )
        self._attempts = Counter(
            "sendable_attempts", "Tries of an upstream", ["upstream", "outcome"], registry=self.registry
        )
        self._losses = Counter("sendable_losses", "Entries of reports", ["code", "verb"], registry=self.registry)
        self._tokens = Counter("sendable_tokens", "Tokens used", ["upstream", "direction"], registry=self.registry)
        self._seconds = Histogram(
            "sendable_request_seconds", "From the request to the end of its answer", ["dialect"],
            buckets=_SECONDS, registry=self.registry,
        )  # fmt: skip
        self._first = Histogram(
            "sendable_first_byte_seconds", "From the request to the first byte of its answer", ["dialect"],
            buckets=_SECONDS, registry=self.registry,
        )  # fmt: skip
        self._in_flight = Gauge("sendable_in_flight", "Requests being answered", registry=self.registry)
        self._children: dict[tuple[str, ...], Any] = {}
        meter = otel_metrics.get_meter("sendable")
        self._operation = meter.create_histogram("gen_ai.client.operation.duration", "s", "GenAI operation duration")
        self._used = meter.create_histogram("gen_ai.client.token.usage", "{token}", "Tokens used")
        self.tracer = trace.get_tracer("sendable")

    def _child(self, metric: Any, *labels: str) -> Any:
        key = (metric._name, *labels)
        child = self._children.get(key)
        if child is None:
            child = self._children[key] = metric.labels(*labels)
        return child

    def request(self, dialect: str, route: str, status: int, seconds: float, first: float | None) -> None:
        """A request was answered."""
        self._child(self._requests, dialect, route, str(status)).inc()
        self._child(self._seconds, dialect).observe(seconds)
        if first is not None:
            self._child(self._first, dialect).observe(first)

    def attempt(self, upstream: str, outcome: str) -> None:
        """An upstream was tried: its status, or a word for what came instead."""
        self._child(self._attempts, upstream, outcome).inc()

    def losses(self, entries: Iterable[Mapping[str, Any]]) -> None:
        """What was lost."""
        for entry in entries:
            self._child(self._losses, entry["code"], entry["verb"]).inc()

    def used(self, upstream: str, dialect: str, model: str | None, seconds: float, usage: Usage | None) -> None:
        """What a whole answer took and used."""
        facts: dict[str, Any] = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": PROVIDERS.get(dialect, dialect),
        }
        if model is not None:
            facts["gen_ai.request.model"] = model
        self._operation.record(seconds, facts)
        if usage is None:
            return
        for direction, count in (("input", usage.input), ("output", usage.output)):
            if count is not None:
                self._child(self._tokens, upstream, direction).inc(count)
                self._used.record(count, {**facts, "gen_ai.token.type": direction})

    def page(self, in_flight: int) -> bytes:
        """What Prometheus reads."""
        self._in_flight.set(in_flight)
        return generate_latest(self.registry)

    def span(self, dialect: str, headers: Mapping[bytes, bytes]) -> trace.Span:
        """The span of a request, inside the one that the client names, if it does."""
        parent = None
        if b"traceparent" in headers:
            parent = propagate.extract({
                name: headers[name.encode()].decode("latin-1")
                for name in ("traceparent", "tracestate")
                if name.encode() in headers
            })  # fmt: skip
        return self.tracer.start_span(f"chat {dialect}", context=parent, kind=trace.SpanKind.SERVER)


def passed_on(span: trace.Span, headers: dict[str, str]) -> None:
    """The headers name the span as the parent of what the upstream records; only if somebody records at all."""
    if span.is_recording():
        propagate.inject(headers, trace.set_span_in_context(span))
