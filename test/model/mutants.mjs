// Explores a configuration with each of several cores, told as JSON on standard input: `{ number, configuration, path, text }` with the file
// that is another one, and its text. Says `[number, { violation }]` of each, a line each. Every core is loaded anew, with the model that
// looks at it; what they stand on is loaded once.
import { registerHooks } from 'node:module';
import { json } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { compile } from '../../tools/specs/sources.mjs';

const ROOT_URL = new URL('../../', import.meta.url).href;
const ANEW = ['libs/constellation/', 'test/model/'].map((folder) => `${ROOT_URL}${folder}`);
/** Between the address of a module and the number of the core that it belongs to. */
const MARK = '?core=';

/** By the address of a file of a core. */
const texts = new Map();

registerHooks({
  resolve(specifier, context, next) {
    const [name, asked] = specifier.split(MARK);
    const [parentURL, number = asked] = (context.parentURL ?? '').split(MARK);
    const found = next(name, { ...context, parentURL });
    const isAnew = number !== undefined && ANEW.some((folder) => found.url.startsWith(folder));
    return isAnew ? { ...found, url: `${found.url}${MARK}${number}` } : found;
  },
  load(url, context, next) {
    const text = texts.get(url);
    const [plain] = url.split(MARK);
    if (text === undefined) return next(plain, context);
    return { format: 'module', source: compile(fileURLToPath(plain), text), shortCircuit: true };
  },
});

/** The first thing that is wrong in what the default suites explore, or null. A core that cannot even be loaded is not explored, which is no violation that anybody waits for. */
async function violationOf({ number, configuration }) {
  const anew = (name) => import(`${ROOT_URL}test/model/${name}.ts${MARK}${number}`);
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
  if (path !== undefined) texts.set(`${ROOT_URL}${path}${MARK}${number}`, text);
  try {
    console.log(JSON.stringify([number, { violation: await violationOf(core) }]));
  } catch (error) {
    console.log(JSON.stringify([number, { violation: { name: 'NOT_EXPLORED', message: String(error) } }]));
  }
}
