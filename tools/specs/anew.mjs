// Loads sources several times in one process, some of them with another text than they have: what nobody asks for anew is loaded once.
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';
import { compile } from './sources.mjs';

const ROOT_URL = new URL('../../', import.meta.url).href;
/** Between the address of a module and the number of the time that it is loaded for. */
const MARK = '?time=';

/**
 * Of what lies in these folders each number has modules of its own, which see each other.
 *
 * @param {readonly string[]} folders
 */
export function loadsAnew(folders) {
  const anew = folders.map((folder) => `${ROOT_URL}${folder}/`);
  /** By the address of a file that is another one. */
  const texts = new Map();
  registerHooks({
    resolve(specifier, context, next) {
      const [name, asked] = specifier.split(MARK);
      const [parentURL, number = asked] = (context.parentURL ?? '').split(MARK);
      const found = next(name, { ...context, parentURL });
      const isAnew = number !== undefined && anew.some((folder) => found.url.startsWith(folder));
      return isAnew ? { ...found, url: `${found.url}${MARK}${number}` } : found;
    },
    load(url, context, next) {
      const text = texts.get(url);
      const [plain] = url.split(MARK);
      if (text === undefined) return next(plain, context);
      return { format: 'module', source: compile(fileURLToPath(plain), text), shortCircuit: true };
    },
  });
  return {
    /** From now on a file has this text for a number. */
    plant: (number, path, text) => void texts.set(`${ROOT_URL}${path}${MARK}${number}`, text),
    load: (number, path) => import(`${ROOT_URL}${path}${MARK}${number}`),
  };
}
