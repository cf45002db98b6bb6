#!/usr/bin/env python3
"""A model server on loopback for tests of real coding agents: it follows the script in the prompt and logs requests.

Speaks three wire formats: Anthropic messages, OpenAI responses and Gemini streamGenerateContent. A prompt line
`CALL tool {"argument": …}` makes it call the tool whose name ends so; without one, and after the tool's answer, it says
one sentence. Usage: scripted-model.py PORT_FILE REQUEST_LOG
"""
import json
import re
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PORT_FILE, REQUEST_LOG = sys.argv[1], sys.argv[2]
LOG_LOCK = threading.Lock()
CALL = re.compile(r"CALL (\w+) (\{.*\})")
SENTENCE = "All done, as the script says."


def texts(value):
    """Every string in a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from texts(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from texts(item)


def wanted_call(messages):
    """Tool and arguments that the last script asks for; None if a tool has answered since."""
    for message in reversed(messages):
        words = json.dumps(message)
        if any(mark in words for mark in ('"tool_result"', '_call_output"', '"functionResponse"')):
            return None
        for text in texts(message):
            found = CALL.search(text)
            if found:
                return found.group(1), json.loads(found.group(2))
    return None


def find_tool(names, suffix):
    return next((name for name in names if name.endswith(suffix)), None)


def anthropic(body):
    call = wanted_call(body["messages"])
    name = call and find_tool([tool["name"] for tool in body.get("tools", [])], call[0])
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": body["model"], "content": []}
    message |= {"stop_reason": None, "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1}}
    yield "message_start", {"message": message}
    if name:
        start = {"type": "tool_use", "id": "toolu_1", "name": name, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(call[1])}
    else:
        start, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": SENTENCE}
    yield "content_block_start", {"index": 0, "content_block": start}
    yield "content_block_delta", {"index": 0, "delta": delta}
    yield "content_block_stop", {"index": 0}
    reason = {"stop_reason": "tool_use" if name else "end_turn", "stop_sequence": None}
    yield "message_delta", {"delta": reason, "usage": {"output_tokens": 1}}
    yield "message_stop", {}


def responses(body):
    call = wanted_call(body["input"])
    item = {"type": "message", "id": "msg_1", "role": "assistant"}
    item["content"] = [{"type": "output_text", "text": SENTENCE, "annotations": []}]
    for tool in body.get("tools", []):
        functions = tool.get("tools", []) if tool.get("type") == "namespace" else [tool]
        name = call and find_tool([function.get("name", "") for function in functions], call[0])
        if name:
            item = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": name}
            item["arguments"] = json.dumps(call[1])
            if tool.get("type") == "namespace":
                item["namespace"] = tool["name"]
            break
    yield "response.created", {"response": {"id": "resp_1"}}
    yield "response.output_item.done", {"output_index": 0, "item": item}
    usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
    usage |= {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
    yield "response.completed", {"response": {"id": "resp_1", "usage": usage}}


def gemini(body):
    call = wanted_call(body["contents"])
    declared = [one["name"] for tool in body.get("tools", []) for one in tool.get("functionDeclarations", [])]
    name = call and find_tool(declared, call[0])
    part = {"functionCall": {"name": name, "args": call[1]}} if name else {"text": SENTENCE}
    counts = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
    candidate = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
    yield None, {"candidates": [candidate], "usageMetadata": counts}


class Model(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"{}")
        path = self.path.split("?")[0]
        formats = {"/v1/messages": anthropic, "/v1/responses": responses}
        answer = gemini if path.endswith("enerateContent") else formats.get(path)
        with LOG_LOCK, open(REQUEST_LOG, "a", encoding="utf-8") as log:
            log.write(json.dumps({"path": path, "body": body}) + "\n")
        if answer is None:
            return self.send(json.dumps({"input_tokens": 1}), "application/json")
        events = list(answer(body))
        if answer is gemini and not path.endswith("streamGenerateContent"):
            return self.send(json.dumps(events[0][1]), "application/json")
        lines = []
        for number, (name, event) in enumerate(events):
            named = {} if name is None else {"type": name, "sequence_number": number}
            head = f"event: {name}\n" if name else ""
            lines.append(f"{head}data: {json.dumps(named | event)}\n\n")
        return self.send("".join(lines), "text/event-stream")

    def do_GET(self):
        self.send("{}", "application/json")

    do_HEAD = do_GET

    def send(self, text, kind):
        data = text.encode()
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
with open(PORT_FILE, "w", encoding="utf-8") as port_file:
    port_file.write(str(server.server_address[1]))
server.serve_forever()
