// A server on the protocol's official SDK whose tools change while it runs: a second
// one comes half a second after the client has greeted it. ./run looks whether the
// host hears of it.
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';

const server = new McpServer({ name: 'changing', version: '1.0.0' });
const offer = (name) =>
  server.registerTool(name, { description: `the ${name} tool` }, async () => ({ content: [{ type: 'text', text: name }] }));
offer('first');
server.server.oninitialized = () => setTimeout(() => offer('second'), 500);
await server.connect(new StdioServerTransport());
