import { z } from 'zod';
import { withoutCredentials } from '../home/index.js';
import { badInput } from '../terminal/index.js';

/** What is meant without a context: what the environment says, else the home of this user. */
export const NO_CONTEXT = 'default';
export const CONTEXT_VARIABLE = 'ORRERY_CONTEXT';
/** Where its console is, too: that says nothing about which system is meant. */
const CONSOLE_VARIABLE = 'ORRERY_CONSOLE_URL';
const PLACES = ['ORRERY_HOME', 'ORRERY_NATS_URL', 'ORRERY_NATS_SEED_FILE', 'ORRERY_DATABASE_URL'] as const;

const SystemContext = z.union([
  z.strictObject({ home: z.string() }),
  /** `seedFile`: of the key with which the bus lets in. */
  z.strictObject({ url: z.string(), seedFile: z.string() }),
]);
export type SystemContext = z.infer<typeof SystemContext>;

/** `contexts.json`. */
export const Contexts = z.strictObject({
  /** What counts where nothing else is said. */
  current: z.string(),
  contexts: z.record(z.string(), SystemContext),
});
export type Contexts = z.infer<typeof Contexts>;

export const NO_CONTEXTS: Contexts = { current: NO_CONTEXT, contexts: {} };

/**
 * The name that counts: `said` on the command line, else that of the environment; the current one only where the environment names no
 * system by itself.
 */
export function nameMeant(said: string | undefined, env: NodeJS.ProcessEnv, { current }: Contexts): string {
  if (said !== undefined) return said;
  const named = env[CONTEXT_VARIABLE] ?? '';
  if (named !== '') return named;
  const isPlaced = PLACES.some((variable) => (env[variable] ?? '') !== '');
  return isPlaced ? NO_CONTEXT : current;
}

/** The environment in which everything is about that system, and nothing about another. Throws CliError for a name that nobody gave. */
export function environmentOf(name: string, env: NodeJS.ProcessEnv, { contexts }: Contexts): NodeJS.ProcessEnv {
  if (name === NO_CONTEXT) return env;
  const context = contextNamed(name, contexts);
  const elsewhere = new Set<string>([...PLACES, CONSOLE_VARIABLE]);
  const rest = Object.fromEntries(Object.entries(env).filter(([variable]) => !elsewhere.has(variable)));
  if ('home' in context) return { ...rest, ORRERY_HOME: context.home };
  return { ...rest, ORRERY_NATS_URL: context.url, ORRERY_NATS_SEED_FILE: context.seedFile };
}

export function contextNamed(name: string, contexts: Contexts['contexts']): SystemContext {
  const found = Object.hasOwn(contexts, name) ? contexts[name] : undefined;
  if (found !== undefined) return found;
  const names = [NO_CONTEXT, ...Object.keys(contexts)].join(', ');
  throw badInput(`There is no context "${name}". There is: ${names}.`);
}

/** Which system that is, in one line: `context prod: nats://bus.example:4222`. */
export function placeText(name: string, { contexts }: Contexts): string {
  const context = contextNamed(name, contexts);
  // A file that was written by hand may have a password in it.
  const place = 'home' in context ? context.home : URL.canParse(context.url) ? withoutCredentials(context.url) : '?';
  return `context ${name}: ${place}`;
}
