"""A scripted provider for an agent's task, in three dialects, streamed: one call, then two parallel calls of which the second fails, then words.

It reads nothing but how far the task has come, refuses what the provider would refuse (the judges of tests/judges), and keeps what it saw. It is
written by hand, and with nothing of `sendable`: it is what the gateway is judged by.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

from tests.judges import judge_openai_responses
from tests.judges.bench import complaints

COMMANDS = ("echo first-call", "echo second-call", "exit 3")
FINAL = "Everything is done."


class Step(NamedTuple):
    """What is said next: the commands to run, or none, and then the final words."""

    number: int
    commands: tuple[str, ...]


STEPS = ((COMMANDS[0],), COMMANDS[1:], ())


class Upstream:
    """One provider on a free port of this machine."""

    def __init__(self, dialect: str) -> None:
        self.dialect = dialect
        self.bodies: list[dict[str, Any]] = []
        self.refused: list[str] = []
        self._steps = self._count = 0
        self._lock = threading.Lock()
        upstream = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))))
                upstream.answer(self, body)

            def log_message(self, format: str, *args: Any) -> None:
                pass  # nothing is printed beside the table

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def stop(self) -> None:
        """End it."""
        self._server.shutdown()
        self._server.server_close()

    def answer(self, request: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        """One request: refused as the provider would, or answered with the next step."""
        wrong = refusals(self.dialect, body)
        with self._lock:
            self.bodies.append(body)
            self._count += 1
            number = self._count
            tool = shell(self.dialect, body)
            if tool is None:  # a title, a summary: no task
                step = Step(number, ())
            else:
                step = Step(number, STEPS[self._steps % len(STEPS)])
                self._steps += not wrong
            if wrong:
                self.refused.append(wrong[0])
        if wrong:
            self._send(request, 400, "application/json", json.dumps(_error(self.dialect, wrong[0])).encode())
            return
        written = {"openai-chat": chat, "anthropic": messages, "openai-responses": responses}[self.dialect]
        lines: list[bytes] = []
        for event in written(step, tool or ("", False)):
            name = f"event: {event['type']}\n" if "type" in event else ""
            lines.append(f"{name}data: {json.dumps(event)}\n\n".encode())
        if self.dialect == "openai-chat":
            lines.append(b"data: [DONE]\n\n")
        if body.get("stream"):
            self._send(request, 200, "text/event-stream", b"".join(lines))
        else:
            self._send(request, 200, "application/json", json.dumps(whole(self.dialect, step)).encode())

    @staticmethod
    def _send(request: BaseHTTPRequestHandler, status: int, kind: str, data: bytes) -> None:
        request.send_response(status)
        request.send_header("content-type", kind)
        request.send_header("content-length", str(len(data)))
        request.end_headers()
        request.wfile.write(data)


def refusals(dialect: str, body: dict[str, Any]) -> list[str]:
    """What the provider would refuse. Current Claude models take system messages in the middle; Codex sends more than OpenAI's library knows."""
    if dialect == "openai-responses":
        return [str(finding) for finding in judge_openai_responses.judge(body)]
    return complaints("anthropic:mid-system" if dialect == "anthropic" else dialect, body, whole=True)


def _error(dialect: str, message: str) -> dict[str, Any]:
    error = {"type": "invalid_request_error", "message": message}
    return {"type": "error", "error": error} if dialect == "anthropic" else {"error": error}


def shell(dialect: str, body: dict[str, Any]) -> tuple[str, bool] | None:
    """The name of the tool that runs commands, and whether it takes them as a list."""
    for tool in body.get("tools") or ():
        function = tool.get("function", tool)
        name = function.get("name", "")
        taken = (function.get("parameters") or function.get("input_schema") or {}).get("properties", {})
        for key in ("command", "cmd"):
            if key in taken and any(word in name.lower() for word in ("bash", "shell", "exec")):
                return f"{name} {key}", taken[key].get("type") == "array"
    return None


def _arguments(tool: tuple[str, bool], command: str) -> tuple[str, str]:
    name, key = tool[0].split(" ")
    value: Any = ["bash", "-lc", command] if tool[1] else command
    more = {"description": "as told"} if name == "Bash" else {}
    return name, json.dumps({key: value, **more})


def chat(step: Step, tool: tuple[str, bool]) -> Iterator[dict[str, Any]]:
    """Chunks of Chat. The fragments of parallel calls are interleaved, as some servers send them."""

    def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return {
            "id": f"chatcmpl-{step.number}",
            "object": "chat.completion.chunk",
            "created": 1,
            "model": "m",
            "choices": [choice],
        }

    yield chunk({"role": "assistant", "reasoning_content": "I think"})
    yield chunk({"reasoning_content": f" about step {step.number}."})
    calls = [_arguments(tool, command) for command in step.commands]
    for index, (name, _) in enumerate(calls):
        head = {"index": index, "id": f"call_{step.number}_{index}", "type": "function"}
        yield chunk({"tool_calls": [{**head, "function": {"name": name, "arguments": ""}}]})
    for start in range(0, max([len(text) for _, text in calls], default=0), 9):
        for index, (_, text) in enumerate(calls):
            if text[start : start + 9]:
                yield chunk({"tool_calls": [{"index": index, "function": {"arguments": text[start : start + 9]}}]})
    if not calls:
        yield chunk({"content": FINAL[:5]})
        yield chunk({"content": FINAL[5:]})
    yield chunk({}, "tool_calls" if calls else "stop")
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    yield {**chunk({}), "choices": [], "usage": usage}


def messages(step: Step, tool: tuple[str, bool]) -> Iterator[dict[str, Any]]:
    """Events of Messages, with thinking and a signature."""
    usage = {"input_tokens": 10, "output_tokens": 5}
    head: dict[str, Any] = {
        "id": f"msg_{step.number}",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [],
        "stop_reason": None,
    }
    yield {"type": "message_start", "message": {**head, "stop_sequence": None, "usage": usage}}
    yield {
        "type": "content_block_start",
        "index": 0,
        "content_block": {"type": "thinking", "thinking": "", "signature": ""},
    }
    for delta in (
        {"type": "thinking_delta", "thinking": f"Step {step.number}."},
        {"type": "signature_delta", "signature": f"EuYBsig{step.number}"},
    ):
        yield {"type": "content_block_delta", "index": 0, "delta": delta}
    yield {"type": "content_block_stop", "index": 0}
    index = 1
    if not step.commands:
        yield {"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}}
        yield {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": FINAL}}
        yield {"type": "content_block_stop", "index": 1}
    for command in step.commands:
        name, text = _arguments(tool, command)
        block = {"type": "tool_use", "id": f"toolu_{step.number}_{index}", "name": name, "input": {}}
        yield {"type": "content_block_start", "index": index, "content_block": block}
        for start in range(0, len(text), 9):
            delta = {"type": "input_json_delta", "partial_json": text[start : start + 9]}
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
        index += 1
    stop = {"stop_reason": "tool_use" if step.commands else "end_turn", "stop_sequence": None}
    yield {"type": "message_delta", "delta": stop, "usage": {"output_tokens": 5}}
    yield {"type": "message_stop"}


def responses(step: Step, tool: tuple[str, bool]) -> Iterator[dict[str, Any]]:
    """Events of Responses, with sealed reasoning."""
    number = 0

    def event(kind: str, **more: Any) -> dict[str, Any]:
        nonlocal number
        number += 1
        return {"type": kind, "sequence_number": number - 1, **more}

    answer = whole("openai-responses", step)
    items: list[dict[str, Any]] = [answer["output"][0]]
    for index, command in enumerate(step.commands):
        name, text = _arguments(tool, command)
        ids = {"id": f"fc_{step.number}_{index}", "call_id": f"call_{step.number}_{index}"}
        items.append({"type": "function_call", **ids, "name": name, "arguments": text, "status": "completed"})
    if not step.commands:
        items.append(answer["output"][1])
    started = {**answer, "status": "in_progress", "output": [], "usage": None}
    yield event("response.created", response=started)
    yield event("response.in_progress", response=started)
    for index, item in enumerate(items):
        place = {"item_id": item["id"], "output_index": index}
        if item["type"] == "function_call":
            yield event(
                "response.output_item.added",
                output_index=index,
                item={**item, "arguments": "", "status": "in_progress"},
            )
            yield event("response.function_call_arguments.delta", **place, delta=item["arguments"])
            yield event(
                "response.function_call_arguments.done", **place, arguments=item["arguments"], name=item["name"]
            )
        elif item["type"] == "message":
            part = {"type": "output_text", "text": "", "annotations": [], "logprobs": []}
            yield event(
                "response.output_item.added", output_index=index, item={**item, "content": [], "status": "in_progress"}
            )
            yield event("response.content_part.added", **place, content_index=0, part=part)
            yield event("response.output_text.delta", **place, content_index=0, delta=FINAL, logprobs=[])
            yield event("response.output_text.done", **place, content_index=0, text=FINAL, logprobs=[])
            yield event("response.content_part.done", **place, content_index=0, part=item["content"][0])
        else:
            yield event("response.output_item.added", output_index=index, item={**item, "encrypted_content": None})
        yield event("response.output_item.done", output_index=index, item=item)
    yield event("response.completed", response={**answer, "output": items})


def whole(dialect: str, step: Step) -> dict[str, Any]:
    """The final words as one body. Clients ask for it only beside the task."""
    if dialect == "openai-chat":
        message = {"role": "assistant", "content": FINAL}
        return {
            "id": f"chatcmpl-{step.number}", "object": "chat.completion", "created": 1, "model": "m",
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
        }  # fmt: skip
    if dialect == "anthropic":
        return {
            "id": f"msg_{step.number}", "type": "message", "role": "assistant", "model": "m", "content": [{"type": "text", "text": FINAL}],
            "stop_reason": "end_turn", "stop_sequence": None, "usage": {"input_tokens": 10, "output_tokens": 5},
        }  # fmt: skip
    text = {"type": "output_text", "text": FINAL, "annotations": [], "logprobs": []}
    return {
        "id": f"resp_{step.number}", "object": "response", "created_at": 1, "model": "m", "status": "completed", "error": None,
        "incomplete_details": None, "instructions": None, "metadata": {}, "parallel_tool_calls": True, "temperature": 1.0,
        "tool_choice": "auto", "tools": [], "top_p": 1.0, "store": False,
        "output": [
            {"id": f"rs_{step.number}", "type": "reasoning", "summary": [], "encrypted_content": f"gAAAAABsealed{step.number}"},
            {"id": f"msg_{step.number}", "type": "message", "role": "assistant", "status": "completed", "content": [text]},
        ],
        "usage": {
            "input_tokens": 10, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": 5,
            "output_tokens_details": {"reasoning_tokens": 1}, "total_tokens": 15,
        },
    }  # fmt: skip
