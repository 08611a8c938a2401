// A tool for the AI SDK, `{ description, inputSchema, execute }`, over one shell, and a model that is a script: what it calls, and what it is told.
// usage: node examples/node/agent.mjs      (with libshell installed: npm install libshell-0.1.0.tgz)
import { Shell, formatResult, tools } from 'libshell';

/** What generateText's `tools` takes. Calls of one turn may come at once: they queue, each with its own time. */
export function shellTool(sh, { timeout = 10, cap = 8000 } = {}) {
  const [definition] = tools('anthropic', {}, sh);
  let last = Promise.resolve();
  return {
    description: sh.describe(),
    inputSchema: { jsonSchema: definition.input_schema },
    execute({ command }, { abortSignal } = {}) {
      const run = last.then(async () => formatResult(await sh.run(command, { timeout, signal: abortSignal }), { cap }));
      last = run.catch(() => {});
      return run;
    },
  };
}

/** Stands where a model would: each turn is calls, made at once as the SDK does. */
const script = [
  ['ls notes; cat notes/*.txt | wc -w'],
  ['grep -rn TODO notes | tee todo.txt', 'weather Warsaw | tr a-z A-Z'],
  ['false', 'nosuchcommand'],
];

const sh = await Shell.create({
  timeout: 10,
  commands: {
    async weather(call) {
      await new Promise((resolve) => setTimeout(resolve, 10)); // a request to somewhere
      call.write(`sunny in ${call.argv[1] ?? 'general'}\n`);
    },
  },
});
sh.writeFile('notes/a.txt', 'buy milk\nTODO write the report\n');
sh.writeFile('notes/b.txt', 'TODO call back\n');
const before = sh.snapshot();

const shell = shellTool(sh);
console.log(`the tool takes: ${Object.keys(shell.inputSchema.jsonSchema.properties).join(', ')}`);
for (const calls of script) {
  const answers = await Promise.all(calls.map((command) => shell.execute({ command }, { abortSignal: AbortSignal.timeout(5000) })));
  calls.forEach((command, i) => console.log(`$ ${command}\n${answers[i]}`));
}
for (const change of sh.changes().filter((c) => c.path.endsWith('todo.txt'))) console.log(`${change.kind} ${change.path}, ${change.size} bytes`);
sh.restore(before); // what a turn did can be taken back
console.log(sh.exists('todo.txt') ? 'still there' : 'taken back');
sh.close();
