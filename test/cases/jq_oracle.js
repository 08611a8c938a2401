// jq 1.8.2 as a command, from the npm package jq-wasm 3.0.0-jq-1.8.2: exact bytes, the caller's environment, files and directory.
// usage: JQ_WASM=DIR node jq_oracle.js JQ-ARGUMENT...   DIR holds node_modules/jq-wasm
//        JQ_WASM=DIR node jq_oracle.js --serve           lines of [ARGUMENTS, INPUT] in, INPUT is the file "in"; one [STDOUT, STDERR, STATUS] each out; bytes are Latin-1
'use strict';
const fs = require('fs');
const path = require('path');
const Module = require('module');

const glue = path.join(process.env.JQ_WASM, 'node_modules/jq-wasm/dist/index.cjs');

// The package trims what jq prints and hides its file system: its glue is loaded with these parts opened.
function opened() {
    const swaps = [
        ['stdout: stdoutSink.toString().trim(), stderr: stderrSink.toString().trim(), exitCode', 'stdout: stdoutSink.toString(), stderr: stderrSink.toString(), exitCode'],
        ['rawSync(jsonString, query, flags = []) {',
            'exec(args, input) { stdinBuffer = input; stdinBufferOffset = 0; return executeJq(args); }, fs() { return FS; }, rawSync(jsonString, query, flags = []) {'],
        ['    raw: raw2,', '    raw: raw2, exec: (a, i) => instance.exec(a, i), fs: () => instance.fs(),'],
        ['preRun() {', 'preRun() { Object.assign(ENV, globalThis.jqEnvironment);'],
        ['return decoder.decode(bytes.subarray(0, length));', 'return Buffer.from(bytes.subarray(0, length)).toString("latin1");'],
    ];
    let text = fs.readFileSync(glue, 'utf8');
    for (const [from, to] of swaps) {
        if (!text.includes(from))
            throw new Error('jq_oracle: not the glue that was expected');
        text = text.split(from).join(to);
    }
    const m = new Module(glue, null);
    m.filename = glue;
    m.paths = Module._nodeModulePaths(path.dirname(glue));
    m._compile(text, glue);
    return m.exports;
}

function copyIn(FS, name) {
    const full = path.resolve(name);
    if (!fs.existsSync(full) || full.startsWith('/dev/'))
        return;
    if (fs.statSync(full).isDirectory()) {
        FS.mkdirTree(full);
        for (const entry of fs.readdirSync(full))
            copyIn(FS, path.join(full, entry));
        return;
    }
    FS.mkdirTree(path.dirname(full));
    FS.writeFile(full, fs.readFileSync(full));
}

function standardInput() {
    try {
        return fs.readFileSync(0);
    } catch (e) {
        return Buffer.alloc(0);
    }
}

// jq leaks a little at each run, and is of no use after an abort: a new one now and then.
async function serve() {
    const lines = require('readline').createInterface({ input: process.stdin });
    let jq = null, runs = 0;
    for await (const line of lines) {
        const [args, input] = JSON.parse(line);
        if (!jq || runs++ % 2000 === 0)
            jq = await opened().loadJq();
        let answer;
        try {
            jq.fs().writeFile('in', Buffer.from(input, 'latin1')); // standard input is buffered: what one run leaves comes to the next
            const r = jq.exec([...args.map((a) => Buffer.from(a, 'latin1').toString()), 'in'], Buffer.alloc(0));
            answer = [r.stdout, r.stderr, r.exitCode];
        } catch (e) {
            answer = ['', String(e), 255];
        }
        if (answer[2] > 5)
            jq = null;
        fs.writeSync(1, JSON.stringify(answer) + '\n');
    }
}

async function main() {
    globalThis.jqEnvironment = Object.assign({}, process.env);
    delete globalThis.jqEnvironment.JQ_WASM;
    const jq = await opened().loadJq();
    const FS = jq.fs(), args = process.argv.slice(2), cwd = process.cwd();
    if (cwd !== '/') {
        copyIn(FS, cwd);
        FS.chdir(cwd);
    }
    args.forEach((a) => copyIn(FS, a));
    const needsInput = !args.some((a) => /^(-[a-zA-Z]*n[a-zA-Z]*|--null-input)$/.test(a)) || args.some((a) => /input/.test(a));
    const r = jq.exec(args, needsInput ? standardInput() : Buffer.alloc(0));
    fs.writeSync(1, Buffer.from(r.stdout, 'latin1'));
    fs.writeSync(2, Buffer.from(r.stderr, 'latin1'));
    process.exitCode = r.exitCode;
}

if (process.argv[2] === '--serve')
    globalThis.jqEnvironment = { TZ: 'UTC', A: 'b' }, serve();
else
    main();
