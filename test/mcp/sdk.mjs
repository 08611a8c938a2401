// The official clients drive every tool: @modelcontextprotocol/sdk 1.x on the two revisions that begin with initialize, @modelcontextprotocol/client 2.x on
// 2026-07-28. usage: node sdk.mjs LIBSHELL; ends with "N passed, N failed".
import assert from 'node:assert/strict';
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import * as modern from '@modelcontextprotocol/client';
import * as modernStdio from '@modelcontextprotocol/client/stdio';

const command = process.argv[2];

async function everyTool(client) {
  const { tools } = await client.listTools();
  assert.equal(tools.length, 11);
  const call = async (name, args = {}, options) => {
    const r = await client.callTool({ name, arguments: args }, ...(options ?? []));
    assert.ok(!r.isError, JSON.stringify(r));
    return r.structuredContent;
  };
  assert.equal((await call('shell', { command: 'cat; exit 4', stdin: 'in' })).status, 4);
  await call('write_file', { path: 'a.txt', content: 'one\ntwo\n' });
  assert.equal((await call('read_file', { path: 'a.txt' })).content, 'one\ntwo\n');
  assert.match((await call('edit_file', { path: 'a.txt', old_text: 'two', new_text: '2' })).diff, /^\+2$/m);
  assert.deepEqual((await call('list_dir')).entries.map((e) => e.name), ['a.txt']);
  assert.equal((await call('search', { pattern: '[0-9]' })).matches[0].line, 2);
  assert.equal((await call('changes')).changes[0].kind, 'added');
  const { snapshot } = await call('snapshot');
  const { session } = await call('open_session');
  assert.deepEqual((await call('list_dir', { session })).entries, []);
  await call('restore', { snapshot, session });
  assert.equal((await call('shell', { command: 'cat a.txt', session })).stdout, 'one\n2\n');
  await call('close_session', { session });
  const gone = await client.callTool({ name: 'shell', arguments: { command: ':', session } });
  assert.ok(gone.isError && /no such session/.test(gone.content[0].text));
}

async function old(version) {
  const client = new OldClient({ name: 'test', version: '1' });
  const transport = new OldTransport({ command, args: ['--mcp'] });
  if (version) { // the client asks for its newest; an older one is asked for by its first message
    const send = transport.send.bind(transport);
    transport.send = (m, o) => {
      if (m.method === 'initialize') m.params.protocolVersion = version;
      return send(m, o);
    };
  }
  await client.connect(transport);
  await everyTool(client);
  const seen = [];
  const r = await client.callTool({ name: 'shell', arguments: { command: 'sleep 1.5; echo late' } }, undefined, { onprogress: (p) => seen.push(p.progress) });
  assert.equal(r.structuredContent.stdout, 'late\n');
  assert.equal(seen.length, 1);
  const stop = new AbortController();
  const slow = client.callTool({ name: 'shell', arguments: { command: 'sleep 100' } }, undefined, { signal: stop.signal });
  setTimeout(() => stop.abort(), 100);
  await assert.rejects(slow);
  assert.equal((await client.callTool({ name: 'shell', arguments: { command: 'echo on' } })).structuredContent.stdout, 'on\n');
  await client.close();
}

async function stateless() {
  const client = new modern.Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: { pin: '2026-07-28' } } });
  await client.connect(new modernStdio.StdioClientTransport({ command, args: ['--mcp'] }));
  await everyTool(client);
  await client.close();
}

const tests = { 'sdk 1.x, 2025-11-25': () => old('2025-11-25'), 'sdk 1.x, 2025-06-18': () => old('2025-06-18'), 'client 2.x, 2026-07-28': stateless };
let passed = 0;
let failed = 0;
for (const [name, test] of Object.entries(tests)) {
  try {
    await test();
    passed++;
  } catch (e) {
    failed++;
    console.log(`${name}: ${e.stack}`);
  }
}
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
