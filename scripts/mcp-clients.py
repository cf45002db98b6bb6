"""The Python SDK as a client, in both of its modes, over stdio and HTTP."""

import asyncio
import sys
import tempfile

from mcp import Client, StdioServerParameters

INGRAIN, URL = sys.argv[1:3]
SAVE = {
    "target_store_slug": "conversation_memory",
    "path": "clients/python",
    "document_type": "tool_usage_lesson",
    "content": "the python client saves and finds",
    "evidence_summary": "this script",
}


async def use(name, server, mode):
    async with Client(server, mode=mode) as client:
        tools = (await client.list_tools()).tools
        assert len(tools) == 8, (name, mode, [tool.name for tool in tools])
        # The newer era has no sessions: over HTTP a conversation is then named by header, and this client names none.
        if not (name == "http" and mode == "auto"):
            saved = (await client.call_tool("memory_remember", SAVE)).structured_content
            assert saved["created"], saved
            found = (await client.call_tool("memory_search", {"query": "python client"})).structured_content
            assert found["results"][0]["path"] == "clients/python", found
        found = (await client.call_tool("memory_search", {"query": "verification policy"})).structured_content
        assert found["results"], found
        assert len((await client.list_prompts()).prompts) == 3
        assert (await client.list_resources()).resources
    print(f"ok: pypi mcp over {name}, {mode}")


async def main():
    for mode in ("auto", "legacy"):
        with tempfile.TemporaryDirectory() as home:
            env = {"INGRAIN_HOME": home, "USER": "ann"}
            await use("stdio", StdioServerParameters(command=INGRAIN, args=["mcp"], env=env), mode)
        await use("http", URL, mode)


asyncio.run(main())
