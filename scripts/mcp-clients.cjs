// The JavaScript SDK as a client: lists, a save, a search, over stdio and HTTP.
const assert = require("node:assert");
const os = require("node:os");
const fs = require("node:fs");
const path = require("node:path");
const { Client } = require("@modelcontextprotocol/sdk/client/index.js");
const { StdioClientTransport } = require("@modelcontextprotocol/sdk/client/stdio.js");
const { StreamableHTTPClientTransport } = require("@modelcontextprotocol/sdk/client/streamableHttp.js");

const [ingrain, url] = process.argv.slice(2);

async function use(name, transport) {
  const client = new Client({ name: "js-sdk", version: "1" });
  await client.connect(transport);
  const { tools } = await client.listTools();
  assert.equal(tools.length, 8, name);
  const saved = await client.callTool({
    name: "memory_remember",
    arguments: {
      target_store_slug: "conversation_memory", path: "clients/js", document_type: "tool_usage_lesson",
      content: "the javascript client saves and finds", evidence_summary: "this script",
    },
  });
  assert.equal(saved.structuredContent.created, true, name);
  const found = await client.callTool({ name: "memory_search", arguments: { query: "javascript client" } });
  assert.equal(found.structuredContent.results[0].path, "clients/js", name);
  assert.ok((await client.listResources()).resources.length > 0, name);
  assert.equal((await client.listPrompts()).prompts.length, 3, name);
  await client.close();
  console.log(`ok: npm sdk over ${name}`);
}

async function main() {
  const home = fs.mkdtempSync(path.join(os.tmpdir(), "ingrain-"));
  await use("stdio", new StdioClientTransport({ command: ingrain, args: ["mcp"], env: { INGRAIN_HOME: home, USER: "ann" } }));
  await use("http", new StreamableHTTPClientTransport(new URL(url)));
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
