// Explores a configuration with each of several cores, told as JSON on standard input: `{ number, configuration, path, text }` with the file
// that is another one, and its text. Says `[number, { violation }]` of each, a line each. Every core is loaded anew, with the model that
// looks at it; what they stand on is loaded once.
import { json } from 'node:stream/consumers';
import { loadsAnew } from '../../tools/specs/anew.mjs';

const { plant, load } = loadsAnew(['libs/constellation', 'test/model']);

/** The first thing that is wrong in what the default suites explore, or null. A core that cannot even be loaded is not explored, which is no violation that anybody waits for. */
async function violationOf({ number, configuration }) {
  const anew = (name) => load(number, `test/model/${name}.ts`);
  const [{ CONFIGURATIONS }, { explore }] = [await anew('configurations'), await anew('explore')];
  const wanted = CONFIGURATIONS.filter(({ name }) => name.includes(configuration));
  if (wanted.length === 0) throw new Error(`no configuration has such a name: ${configuration}`);
  for (const one of wanted) {
    const { violation } = explore({ ...one, limits: { ...one.limits, ...one.brief } });
    if (violation !== null) return violation;
  }
  return null;
}

for (const core of await json(process.stdin)) {
  const { number, path, text } = core;
  if (path !== undefined) plant(number, path, text);
  try {
    console.log(JSON.stringify([number, { violation: await violationOf(core) }]));
  } catch (error) {
    console.log(JSON.stringify([number, { violation: { name: 'NOT_EXPLORED', message: String(error) } }]));
  }
}
