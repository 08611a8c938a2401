'use strict';
const { test, describe } = require('node:test');
const assert = require('node:assert/strict');
const { Shell, ShellError } = require('libshell');

const code = (expected) => (error) => error instanceof ShellError && error.code === expected;
const base = 'https://api.example.com/';
const KEY = 'a-secret-of-some-length';

function shellWith(transport, more = {}) {
  return new Shell({ network: { allow: [base], transport, ...more } });
}

// Warnings of the process while `work` runs.
async function warned(work) {
  const seen = [];
  const listen = (warning) => seen.push(warning.message);
  process.on('warning', listen);
  try {
    await work();
    await new Promise((resolve) => setImmediate(resolve));
  } finally {
    process.off('warning', listen);
  }
  return seen;
}

describe('a transport of JavaScript', () => {
  test('the request as it is, the answer as it comes', async () => {
    const seen = [];
    const sh = shellWith((request) => {
      seen.push(request);
      return { status: 201, statusText: 'Made', headers: { 'X-One': '1', 'content-type': 'text/plain' }, body: `${request.method} ${request.body ? request.body.length : 'none'}\n` };
    });
    for (const run of [(s) => sh.runSync(s), (s) => sh.run(s)]) {
      const out = await run(`curl -sS -i -H 'X-Two: 2' -d 'a body' -m 7 ${base}path?q=1; curl -sS ${base}; curl -sSI ${base}`);
      assert.equal(out.stderr, '');
      assert.equal(out.stdout, 'HTTP/1.1 201 Made\r\nX-One: 1\r\ncontent-type: text/plain\r\n\r\nPOST 6\nGET none\nHTTP/1.1 201 Made\r\nX-One: 1\r\ncontent-type: text/plain\r\n\r\n');
      const [post, get, head] = seen.splice(0);
      assert.deepEqual([post.method, post.url, Buffer.from(post.body).toString(), post.timeout, post.insecure], ['POST', `${base}path?q=1`, 'a body', 7, false]);
      assert.ok(post.headers.some(([name, value]) => name === 'X-Two' && value === '2'));
      assert.ok(!post.headers.some(([name]) => /^(host|content-length)$/i.test(name)));
      assert.deepEqual([get.body, head.method], [undefined, 'HEAD']);
    }
  });

  test('a promise, a body in pieces of every kind', async () => {
    const bodies = {
      string: 'text\n', bytes: new Uint8Array([98, 10]), none: undefined, nothing: null, list: ['a', Buffer.from('b'), '\n'],
      sync: (function* () { for (let i = 0; i < 5; i++) yield `${i}`; })(), later: (async function* () { for (let i = 0; i < 5; i++) { await null; yield `${i}`; } })(),
      stream: new Blob(['blob\n']).stream(),
    };
    const sh = shellWith(async (request) => ({ body: bodies[new URL(request.url).pathname.slice(1)] }));
    const out = await sh.run(Object.keys(bodies).map((name) => `curl -sS ${base}${name}; echo "<$?>"`).join('\n'));
    assert.equal(out.stdout, 'text\n<0>\nb\n<0>\n<0>\n<0>\nab\n<0>\n01234<0>\n01234<0>\nblob\n<0>\n');
  });

  test('a large body in bounded memory, and one that is not read to its end', async () => {
    let ahead = 0, closed = 0;
    const sh = shellWith(async () => ({
      body: (async function* () {
        try {
          for (let i = 0; i < 640; i++) {
            ahead = i;
            yield Buffer.alloc(65536, 'x');
          }
        } finally {
          closed++;
        }
      })(),
    }));
    assert.equal((await sh.run(`curl -sS ${base} | wc -c`)).stdout, `${640 * 65536}\n`);
    assert.equal((await sh.run(`curl -s ${base} | head -c 3`)).stdout, 'xxx');
    assert.ok(ahead < 100, `${ahead} pieces were taken for three bytes`);
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert.equal(closed, 2);
  });

  test('a body that is sent in pieces', async () => {
    const sh = shellWith(async ({ body }) => ({ body: `${body.length}\n` }));
    assert.equal((await sh.run(`head -c 3000000 /dev/zero | curl -sS -T - ${base}; head -c 300000 /dev/zero > f; curl -sS -T f ${base}f`)).stdout, '3000000\n300000\n');
  });

  test('beside each other', async () => {
    let open = 0, most = 0;
    const sh = shellWith(async () => {
      most = Math.max(most, ++open);
      await new Promise((resolve) => setTimeout(resolve, 30));
      open--;
      return { body: 'x\n' };
    });
    assert.equal((await sh.run(`for i in 1 2 3 4; do curl -s ${base}$i & done; wait`)).stdout, 'x\n'.repeat(4));
    assert.equal(most, 4);
  });

  test('rules, credentials and redaction are as ever; a hop is a request of its own', async () => {
    const seen = [];
    const sh = shellWith(async (request) => {
      seen.push(`${request.url} ${Object.fromEntries(request.headers).Authorization ?? '-'}`);
      if (request.url.endsWith('/go')) return { status: 302, headers: [['Location', 'https://other.example.com/']], body: '' };
      return { headers: [['X-Echo', KEY]], body: [`you sent ${KEY.slice(0, 9)}`, `${KEY.slice(9)} ${btoa(KEY)}\n`] };
    }, { allow: [base, 'https://other.example.com/'], deny: [`${base}no`], credentials: [{ url: base, secret: KEY }] });
    const out = await sh.run(`curl -sSi ${base}; curl -sSL ${base}go | tail -c 5; curl -s ${base}no; echo $?; curl -s https://third.example.com/; echo $?`);
    assert.ok(!out.stdout.includes(KEY));
    assert.match(out.stdout, /X-Echo: \[redacted\]\r\n\r\nyou sent \[redacted\] \[redacted\]/);
    assert.match(out.stdout, /7\n7\n$/);
    assert.deepEqual(seen, [`${base} Bearer ${KEY}`, `${base}go Bearer ${KEY}`, 'https://other.example.com/ -']);
  });

  test('addresses are those that passed', async () => {
    const seen = [];
    const sh = shellWith(async (request) => { seen.push(request.addresses); return { body: 'x' }; },
      { allow: [base, 'https://in.example.com/'], resolve: (host) => (host.startsWith('in.') ? '10.0.0.1' : ['93.184.216.34', '10.0.0.1', '2606:4700::1111']) });
    const out = await sh.run(`curl -s ${base}; curl -s https://in.example.com/; echo $?`);
    assert.equal(out.stdout, 'x7\n');
    assert.deepEqual(seen, [['93.184.216.34', '2606:4700::1111']]);
  });

  test('what fails', async () => {
    const answers = {
      throws: () => { throw new Error('no way out'); }, rejects: async () => { throw new Error('no way out'); }, nothing: () => undefined, status: () => ({ status: 20 }),
      header: () => ({ headers: { A: 'b\r\nC: d' } }), body: () => ({ body: 7 }), piece: () => ({ body: [7] }), broken: () => ({ body: (function* () { yield 'x'; throw new Error('broken'); })() }),
    };
    const sh = shellWith((request) => answers[new URL(request.url).pathname.slice(1)]());
    for (const run of [(s) => sh.run(s), async (s) => sh.runSync(s)]) {
      const seen = await warned(async () => {
        for (const name of Object.keys(answers)) {
          const out = await run(`curl -s ${base}${name}; echo "<$?>"`);
          assert.equal(out.stdout, name === 'broken' ? 'x<56>\n' : '<56>\n', name);
        }
      });
      assert.equal(seen.length, Object.keys(answers).length, seen.join('\n'));
    }
    const seen = await warned(async () => assert.equal(shellWith(async () => ({ body: 'x' })).runSync(`curl -s ${base}; echo $?`).stdout, '56\n'));
    assert.deepEqual(seen, ['the transport is asynchronous: use run()']);
  });

  test('one that never answers ends with the run', async () => {
    const held = []; // one that is collected is a failure
    const sh = shellWith(() => new Promise((resolve) => { held.push(resolve); }));
    assert.equal((await sh.run(`curl -s ${base}`, { timeout: 0.1 })).end, 'timeout');
    assert.equal((await sh.run(`curl -sS -m 0.2 ${base}; echo $?`)).stdout, '28\n');
    const abort = new AbortController();
    const run = sh.run(`curl -s ${base}`, { signal: abort.signal });
    setTimeout(() => abort.abort(), 20);
    await assert.rejects(run, { name: 'AbortError' });
    assert.equal(sh.runSync('echo on').stdout, 'on\n');
    if (globalThis.gc) {
      let made = 0;
      const lost = shellWith(() => { made++; return new Promise(() => {}); });
      const ended = warned(async () => lost.run(`curl -s ${base}; echo $?`, { timeout: 5 }));
      for (let i = 0; i < 20 && !made; i++) await new Promise((resolve) => setTimeout(resolve, 10));
      globalThis.gc();
      await ended;
    }
  });

  test('fetch is one, but for its redirects', async (t) => {
    if (typeof fetch !== 'function') return t.skip('there is no fetch');
    const zlib = require('node:zlib');
    const server = await new Promise((resolve) => {
      const s = require('node:http').createServer((request, response) => {
        if (request.url === '/go') response.writeHead(302, { location: '/' }).end();
        else response.writeHead(200, { 'content-encoding': 'gzip' }).end(zlib.gzipSync(`${request.method} ${request.headers['x-a']}\n`));
      }).listen(0, '127.0.0.1', () => resolve(s));
    });
    const url = `http://127.0.0.1:${server.address().port}/`;
    const sh = new Shell({ network: { allow: [{ url, allowPrivate: true }],
      transport: ({ method, url: to, headers, body }) => fetch(to, { method, headers: headers.filter(([name]) => !/^connection$/i.test(name)), body, redirect: 'manual' }) } });
    const out = await sh.run(`curl -sSL -H 'X-A: b' ${url}go; curl -sS -X PUT -d x ${url}`);
    assert.deepEqual([out.stdout, out.stderr], ['GET b\nPUT undefined\n', '']);
    server.close();
  });

  test('limits of heads and of bodies', async () => {
    const sh = shellWith(async () => ({ headers: { 'X-Pad': 'x'.repeat(200) }, body: 'x'.repeat(2000) }));
    sh.setLimits({ head: 100, connectMs: 1000 });
    const out = await sh.run(`curl -sS ${base}; echo $?`);
    assert.deepEqual([out.stdout, out.stderr], ['56\n', 'curl: (56) head limit of 100 bytes reached\n']);
    sh.setLimits({ head: 0, download: 1000 });
    assert.equal((await sh.run(`curl -sS ${base}`)).limit, 'download');
  });
});

describe('credentials', () => {
  test('a placeholder means nothing elsewhere', async () => {
    const seen = [];
    const sh = shellWith(async ({ headers, body }) => { seen.push([Object.fromEntries(headers)['X-Key'], body && Buffer.from(body).toString()]); return {}; },
      { allow: [base, 'https://other.example.com/'], credentials: [{ url: base, kind: 'placeholder', name: 'TOKEN', secret: KEY }] });
    const out = await sh.run(`echo $TOKEN; curl -s -H "X-Key: $TOKEN" ${base}; echo "$TOKEN" > f; curl -s -T f ${base}; curl -s -H "X-Key: $TOKEN" https://other.example.com/`);
    const place = out.stdout.trim();
    assert.match(place, /^lsh_/);
    assert.deepEqual(seen, [[KEY, undefined], [undefined, `${KEY}\n`], [place, undefined]]);
  });

  test('a signature is made for each request', async () => {
    const asked = [], seen = [];
    const sign = async (request) => { asked.push(request); return request.url.endsWith('/no') ? undefined : { 'X-Signature': `signed-${request.method}-${request.body?.length ?? 0}` }; };
    const sh = shellWith(async ({ headers }) => { seen.push(Object.fromEntries(headers)['X-Signature']); return { body: 'x' }; }, { credentials: [{ url: base, kind: 'sign', sign }] });
    const out = await sh.run(`curl -s -H 'X-Signature: mine' ${base}; curl -s -d abc ${base}; curl -s ${base}no; echo $?`);
    assert.equal(out.stdout, 'xx7\n');
    assert.deepEqual(seen, ['signed-GET-0', 'signed-POST-3']);
    assert.deepEqual([asked[0].body, Buffer.from(asked[1].body).toString()], [undefined, 'abc']);
    const sync = shellWith(() => ({ body: 'y' }), { credentials: [{ url: base, kind: 'sign', sign: () => [['X-Signature', 'a-signature']] }] });
    assert.equal(sync.runSync(`curl -s ${base}`).stdout, 'y');
    const broken = shellWith(() => ({ body: 'y' }), { credentials: [{ url: base, kind: 'sign', sign: () => ({ A: 'b\nC: d' }) }] });
    assert.equal(broken.runSync(`curl -s ${base}; echo $?`).stdout, '7\n');
    assert.throws(() => shellWith(() => ({}), { credentials: [{ url: base, kind: 'sign', secret: KEY }] }), code('EINVAL'));
    assert.throws(() => shellWith(() => ({}), { credentials: [{ url: base, sign, secret: KEY }] }), code('EINVAL'));
    assert.throws(() => shellWith('no function'), code('EINVAL'));
  });
});
