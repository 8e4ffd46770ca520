import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import {
  contextNamed,
  nameMeant,
  NO_CONTEXT,
  readContexts,
  writeContexts,
  type SystemContext,
} from '../../contexts/index.js';
import { badInput, tell, tellTable, type CliContext, type ExitCode } from '../../terminal/index.js';

export interface PlaceOfSystem {
  readonly url?: string;
  readonly seedFile?: string;
  readonly home?: string;
}

const NAME = /^[a-z0-9][a-z0-9-]{0,62}$/u;
const SCHEMES = new Set(['nats:', 'tls:', 'ws:', 'wss:']);
/** Anybody's but the owner's. */
const OTHERS = 0o077;

export async function listContexts(context: CliContext): Promise<ExitCode> {
  const { contexts } = await readContexts(context.env);
  const current = nameMeant(undefined, context.env, await readContexts(context.env));
  const rows = Object.entries(contexts).map(([name, place]) => ({
    name,
    isCurrent: name === current,
    ...shown(place),
  }));
  return tellTable(context, {
    json: { current, contexts: rows },
    rows,
    nothing: 'no contexts; "orrery context add" gives a system a name',
    columns: [
      { title: '', value: ({ isCurrent }) => (isCurrent ? '*' : '') },
      { title: 'CONTEXT', value: ({ name }) => name },
      { title: 'SYSTEM', value: ({ system }) => system },
      { title: 'KEY', value: ({ key }) => key },
    ],
  });
}

export async function addContext(context: CliContext, name: string, place: PlaceOfSystem): Promise<ExitCode> {
  if (!NAME.test(name) || name === NO_CONTEXT) {
    throw badInput(`"${name}" is no name for a context: a-z, 0-9 and "-", at most 63, and not "${NO_CONTEXT}".`);
  }
  const known = await readContexts(context.env);
  if (Object.hasOwn(known.contexts, name)) throw badInput(`There is a context "${name}" already; remove it first.`);
  const added = await placeFrom(place);
  await writeContexts(context.env, { ...known, contexts: { ...known.contexts, [name]: added } });
  return tell(context, { name, ...shown(added) }, `context ${name} added; "orrery context use ${name}" chooses it`);
}

export async function useContext(context: CliContext, name: string): Promise<ExitCode> {
  const known = await readContexts(context.env);
  if (name !== NO_CONTEXT) contextNamed(name, known.contexts);
  await writeContexts(context.env, { ...known, current: name });
  return tell(context, { current: name }, `commands are about ${name} now`);
}

export async function removeContext(context: CliContext, name: string): Promise<ExitCode> {
  const known = await readContexts(context.env);
  contextNamed(name, known.contexts);
  const contexts = Object.fromEntries(Object.entries(known.contexts).filter(([one]) => one !== name));
  const current = known.current === name ? NO_CONTEXT : known.current;
  await writeContexts(context.env, { current, contexts });
  return tell(context, { removed: name, current }, `context ${name} removed; commands are about ${current} now`);
}

const shown = (place: SystemContext) =>
  'home' in place ? { system: place.home, key: '' } : { system: place.url, key: place.seedFile };

async function placeFrom({ url, seedFile, home }: PlaceOfSystem): Promise<SystemContext> {
  if (home !== undefined && url === undefined && seedFile === undefined) return { home: resolve(home) };
  if (home !== undefined || url === undefined || seedFile === undefined) {
    throw badInput('A system is named by --url and --seed-file, or by --home.');
  }
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || !SCHEMES.has(parsed.protocol)) {
    throw badInput('--url must be the address of a bus, for example nats://bus.example:4222.');
  }
  // Whoever lists the contexts would see it.
  if (parsed.username !== '' || parsed.password !== '') throw badInput('--url must be without a user or password.');
  const file = resolve(seedFile);
  const found = await stat(file).catch(() => undefined);
  if (found?.isFile() !== true) throw badInput(`There is no file ${file}.`);
  if ((found.mode & OTHERS) !== 0) throw badInput(`Others may read ${file}: chmod 600 it first.`);
  return { url, seedFile: file };
}
