/** A public client of the Model Context Protocol: lists the tools, calls one, prints what it got. usage: node mcp_client.mjs URL TRACE */
import path from 'node:path';
import process from 'node:process';
import { pathToFileURL } from 'node:url';

const modules = process.env.KINETOSCOPE_NODE_MODULES ?? '';
/** @param {string} file of the package */
const load = (file) => import(pathToFileURL(path.join(modules, '@modelcontextprotocol', 'sdk', 'dist', 'esm', 'client', file)).href);
const { Client } = await load('index.js');
const { StreamableHTTPClientTransport } = await load('streamableHttp.js');

const [address, trace] = process.argv.slice(2);
const client = new Client({ name: 'kinetoscope-check', version: '1.0.0' });
await client.connect(new StreamableHTTPClientTransport(new URL(address)));
const { tools } = await client.listTools();
const overview = await client.callTool({ name: 'overview', arguments: { trace: Number(trace) } });
process.stdout.write(JSON.stringify({ name: client.getServerVersion()?.name, tools: tools.map(({ name }) => name), overview: overview.content[0].text }));
await client.close();
