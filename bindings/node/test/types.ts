// Compiled by tsc, never run: the types say what the examples of the documentation do.
import { Shell, Image, ShellError, Output, formatResult, tools, auditVerify, type Mount, type Call, type ShellConfig } from 'libshell';
import all from 'libshell';

async function main(): Promise<void> {
  const sh: Shell = await Shell.create({
    binds: [{ source: '.', destination: '/workspace', mode: 'overlay' }],
    limits: { memory: 1n << 28n, timeMs: 1000 },
    network: { allow: ['https://example.com/', { url: 'https://a.example/', methods: ['GET'] }], credentials: [{ url: 'https://example.com/', secret: async () => 'k' }], decide: async () => true },
    policy: { asks: ['delete'], ask: async ({ kind, subject }) => kind === 'delete' && subject.startsWith('/tmp') },
    commands: { up: (call: Call) => call.write(call.stdinText.toUpperCase()) },
  });
  const out: Output = await sh.run('echo hi', { signal: AbortSignal.timeout(1000), stdin: new Uint8Array(3), args: ['a'] });
  const text: string = out.stdout + formatResult(out, { cap: 300 });
  for await (const { stream, data } of sh.stream('ls', { encoding: 'utf8' })) text.concat(stream, data);
  for await (const { data } of sh.stream('ls')) data.byteLength.toFixed();
  const mount: Mount = { async stat() { return { type: 'dir' }; }, list: () => ['a', { name: 'b', type: 'dir' }] };
  sh.mount('/m', mount, { readonly: true });
  const image: Image = sh.image();
  const config: ShellConfig = new Shell({ image }).config();
  const names: Uint8Array[] = sh.listFiles('/', { encoding: 'buffer' }).map((f) => f.name);
  const verified = auditVerify('');
  if (!verified.ok) verified.why.length;
  console.log(config.network?.credentials[0]?.url, names, tools('openai'), all.version(), sh.changes({ digests: true })[0]?.digest);
  try {
    sh.readFile('/none');
  } catch (error) {
    if (error instanceof ShellError && error.code === 'ENOENT') console.log(error.path);
  }
  new Shell({ network: { allow: ['https://a.example/'], transport: ({ method, url, headers, body }) => fetch(url, { method, headers, body: body as BodyInit | undefined, redirect: 'manual' }) } });
  new Shell({ network: { transport: () => ({ status: 200, headers: { a: 'b' }, body: ['x', new Uint8Array(1)] }), credentials: [{ url: 'https://a.example/', kind: 'sign', sign: async ({ body }) => ({ 'X-Length': `${body?.length}` }) }] } });
  // @ts-expect-error there is no such option
  sh.runSync('x', { timeot: 3 });
  // @ts-expect-error nothing of a secret in a configuration
  config.network?.credentials[0]?.secret;
  // @ts-expect-error a synchronous run cannot be aborted
  sh.runSync('x', { signal: AbortSignal.timeout(1) });
}
main();
