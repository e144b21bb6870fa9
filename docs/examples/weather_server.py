#!/usr/bin/env python3
"""A tool server in Python without any package: one tool, get_weather.

It speaks the Model Context Protocol over standard input and output: one JSON
object a line. See docs/tools.md.
"""
import json
import sys

TOOL = {
    "name": "get_weather",
    "description": "The in-world weather of a place. Returns conditions and temperature.",
    "inputSchema": {
        "type": "object",
        "properties": {
            "location": {"type": "string", "description": "the place's name in the game"},
            "season": {"type": "string", "enum": ["spring", "summer", "autumn", "winter"]},
        },
        "required": ["location"],
        "additionalProperties": False,
    },
    "annotations": {"readOnlyHint": True, "openWorldHint": False},
    "_meta": {"io.github.glyphoxa/latency": {
        "estimatedDurationMs": 10, "maxDurationMs": 50, "cacheableSeconds": 60}},
}


def get_weather(location, season="autumn"):
    return {"location": location, "conditions": "overcast with arcane lightning",
            "temperature": "cold" if season == "winter" else "cool"}


def answer(method, params):
    if method == "initialize":
        return {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                "serverInfo": {"name": "weather", "version": "1.0"}}
    if method == "tools/list":
        return {"tools": [TOOL]}
    if method == "tools/call" and params["name"] == TOOL["name"]:
        result = get_weather(**params.get("arguments", {}))
        return {"content": [{"type": "text", "text": json.dumps(result)}]}
    raise KeyError(method)


for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:  # a notification wants no answer
        continue
    reply = {"jsonrpc": "2.0", "id": message["id"]}
    try:
        reply["result"] = answer(message["method"], message.get("params", {}))
    except KeyError:
        reply["error"] = {"code": -32601, "message": "method not found"}
    print(json.dumps(reply), flush=True)
