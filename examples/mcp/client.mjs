// An MCP client that gives a task a session of its own, looks at what it changed, and keeps it. The packages: npm install @modelcontextprotocol/sdk
// usage: node client.mjs path/to/libshell
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const require = createRequire(pathToFileURL(process.cwd() + '/')); // from where it is run
const load = async (name) => import(pathToFileURL(require.resolve('@modelcontextprotocol/sdk/client/' + name)).href);
const { Client } = await load('index.js');
const { StdioClientTransport } = await load('stdio.js');

const client = new Client({ name: 'example', version: '1.0.0' });
await client.connect(new StdioClientTransport({ command: process.argv[2], args: ['--mcp'] }));

async function call(name, args) {
  const result = await client.callTool({ name, arguments: args });
  if (result.isError) throw new Error(result.content[0].text);
  return result.structuredContent;
}

const { session } = await call('open_session', {});
await call('write_file', { session, path: 'data.csv', content: 'name,n\nada,3\nbob,4\n' });
const run = await call('shell', { session, command: "awk -F, 'NR > 1 { s += $2 } END { print s }' data.csv | tee sum" });
console.log('status', run.status, 'stdout', JSON.stringify(run.stdout));
const edit = await call('edit_file', { session, path: 'data.csv', old_text: 'bob,4', new_text: 'bob,5' });
console.log(edit.diff);
for (const change of (await call('changes', { session })).changes) console.log(change.kind, change.path);
console.log('snapshot', (await call('snapshot', { session })).bytes > 0);
await call('close_session', { session });
await client.close();
