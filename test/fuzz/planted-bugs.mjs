// Gives endpoints that are each broken in one place hostile frames until a promise is broken, told as JSON on standard input: `{ number,
// target, frames, path, text }` with the file that is another one, and its text. Says `[number, failures]` of each, a line each. Every
// endpoint is loaded anew, with what looks at it; what they stand on is loaded once.
import { json } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { loadsAnew } from '../../tools/specs/anew.mjs';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const { plant, load } = loadsAnew(['libs/aip', 'test/fuzz']);

async function failuresOf({ number, target: wanted, frames }) {
  const anew = (name) => load(number, `test/fuzz/${name}.ts`);
  const { SEED_DEFAULT: seed, TARGETS } = await anew('targets');
  const [{ campaign }, { readCorpus }, { Generator }] = [
    await anew('campaign'),
    await anew('corpus'),
    await anew('generator'),
  ];
  const { target } = TARGETS.find((known) => known.target.name === wanted);
  const generator = new Generator(readCorpus(ROOT));
  const { failures } = await campaign({ target, generator, seed, frames, failuresMax: 1 });
  return failures;
}

for (const bug of await json(process.stdin)) {
  plant(bug.number, bug.path, bug.text);
  console.log(JSON.stringify([bug.number, await failuresOf(bug)]));
}
