"""Calls every tool with the official Python client, in order, and prints what came back as JSON, a line for each call.

    client.py stdio discreet mcp --policy hospital.yaml --as ana
    TOKEN=... client.py http http://127.0.0.1:8432/mcp

The calls are on standard input: a line of JSON for each, [tool, arguments].
"""

import asyncio
import json
import os
import sys

from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import create_mcp_http_client, streamable_http_client


def place() -> object:
    if sys.argv[1] == "stdio":
        return StdioServerParameters(command=sys.argv[2], args=sys.argv[3:])
    headers = {"Authorization": "Bearer " + os.environ["TOKEN"]}
    return streamable_http_client(sys.argv[2], http_client=create_mcp_http_client(headers=headers))


async def main() -> None:
    calls = [json.loads(line) for line in sys.stdin if line.strip()]
    async with Client(place()) as client:
        tools = (await client.list_tools()).tools
        print(json.dumps({"tools": [t.name for t in tools]}), flush=True)
        for name, arguments in calls:
            r = await client.call_tool(name, arguments)
            print(json.dumps({"tool": name, "error": bool(r.is_error), "text": r.content[0].text, "json": r.structured_content}), flush=True)


asyncio.run(main())
