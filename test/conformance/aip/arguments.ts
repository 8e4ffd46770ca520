import { parseArgs } from 'node:util';
import { PROFILES, type Profile } from './check.js';

/** Bad input of a person: one clear sentence, exit code 3. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

export interface ConformanceArguments {
  readonly mode: 'url' | 'stand' | 'mutants' | 'list' | 'help';
  readonly url: string;
  readonly devices: readonly { readonly id: string; readonly tokenFile: string }[];
  readonly constellationTokenFiles: readonly string[];
  readonly profiles: readonly Profile[];
  /** Only these checks; those that end in `*` by their beginning. Empty: all. */
  readonly checks: readonly string[];
  readonly natsUrl: string | undefined;
  readonly natsSeedFile: string | undefined;
  readonly natsUser: string | undefined;
  readonly executes: boolean;
  readonly answerMs: number;
  readonly taskMs: number;
  readonly json: boolean;
}

const ANSWER_MS_DEFAULT = 5_000;
const TASK_MS_DEFAULT = 30_000;

export const USAGE = `usage: npm run conformance -- --url ws://host:port/ws --device-id ID --device-token-file FILE [...]
       npm run conformance -- --stand | --mutants | --list | --help

Checks an AIP server by its URL, over real WebSockets. The exit code is 1 when a check failed.

  --url URL                       the server, for example ws://127.0.0.1:5000/ws
  --device-id ID                  a device that may connect; with its token, as often as there are devices: checks
  --device-token-file FILE        run side by side then, and some need two
  --constellation-token-file FILE the token of a client that may send tasks to these devices; as often as there are such
  --profile P[,P]                 core (any AIP server), strict, revision-2; default: all three
  --check ID[,ID]                 only these checks; "wrong.*" means all that begin so
  --nats-url URL                  the bus behind a gateway of ours: lets the checks make it send COMMANDs
  --nats-seed-file FILE, --nats-user NAME
                                  who we are there; has to have the rights of admin, its default
  --executes                      a whole system stands behind the gateway and carries tasks out
  --answer-ms N                   how long an answer may take, default ${ANSWER_MS_DEFAULT}
  --task-ms N                     how long a TASK may take to its end, default ${TASK_MS_DEFAULT}
  --json                          one JSON array instead of the table
  --stand                         checks our own gateway on a stand that is started for it (needs ORRERY_NATS_SERVER)
  --mutants                       breaks our gateway on purpose, one line at a time, and shows which check finds it;
                                  --check narrows it down to the mutants that these checks have to find
  --list                          every check, what it demands and where that comes from

Examples:
  npm run conformance -- --url ws://127.0.0.1:5000/ws --device-id dev1 --device-token-file key --profile core
  npm run conformance -- --stand --check 'r2.*'
  npm run conformance -- --mutants`;

const TEXT = { type: 'string' } as const;
const TEXTS = { type: 'string', multiple: true } as const;
const FLAG = { type: 'boolean' } as const;
const OPTIONS = {
  url: TEXT,
  'device-id': TEXTS,
  'device-token-file': TEXTS,
  'constellation-token-file': TEXTS,
  profile: TEXT,
  check: TEXT,
  'nats-url': TEXT,
  'nats-seed-file': TEXT,
  'nats-user': TEXT,
  executes: FLAG,
  'answer-ms': TEXT,
  'task-ms': TEXT,
  json: FLAG,
  stand: FLAG,
  mutants: FLAG,
  list: FLAG,
  help: FLAG,
} as const;

export function parseArguments(argv: readonly string[]): ConformanceArguments {
  const given = parsed(argv);
  const mode = modeOf(given);
  const ids = given['device-id'] ?? [];
  const files = given['device-token-file'] ?? [];
  if (ids.length !== files.length) {
    throw new UsageError(
      '--device-id and --device-token-file belong together: give both as often as there are devices',
    );
  }
  if (mode === 'url' && ids.length === 0) {
    throw new UsageError('--url needs a device that may connect there: --device-id and --device-token-file');
  }
  return {
    mode,
    url: mode === 'url' ? webSocketUrl(given.url ?? '') : '',
    devices: ids.map((id, index) => ({ id, tokenFile: files[index] ?? '' })),
    constellationTokenFiles: given['constellation-token-file'] ?? [],
    profiles: given.profile === undefined ? PROFILES : given.profile.split(',').map(profileOf),
    checks: given.check?.split(',') ?? [],
    natsUrl: given['nats-url'],
    natsSeedFile: given['nats-seed-file'],
    natsUser: given['nats-user'],
    executes: given.executes ?? false,
    answerMs: milliseconds('--answer-ms', given['answer-ms'] ?? String(ANSWER_MS_DEFAULT)),
    taskMs: milliseconds('--task-ms', given['task-ms'] ?? String(TASK_MS_DEFAULT)),
    json: given.json ?? false,
  };
}

/** Whether a check is among those that were named; every one is when none was. */
export const isChosen = (id: string, chosen: readonly string[]): boolean =>
  chosen.length === 0 || chosen.some((name) => (name.endsWith('*') ? id.startsWith(name.slice(0, -1)) : id === name));

function parsed(argv: readonly string[]) {
  try {
    return parseArgs({ args: [...argv], options: OPTIONS }).values;
  } catch (cause) {
    throw new UsageError(USAGE, { cause });
  }
}

function modeOf(given: ReturnType<typeof parsed>): ConformanceArguments['mode'] {
  if (given.help === true) return 'help';
  if (given.list === true) return 'list';
  const modes = (['url', 'stand', 'mutants'] as const).filter((mode) => given[mode] !== undefined);
  const [mode, another] = modes;
  if (mode === undefined) throw new UsageError(USAGE);
  if (another !== undefined) throw new UsageError(`--${mode} and --${another} exclude each other`);
  return mode;
}

function webSocketUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === 'ws:' || url?.protocol === 'wss:') return url.href;
  throw new UsageError(`--url must be a WebSocket address, for example ws://127.0.0.1:5000/ws, not "${text}"`);
}

function profileOf(name: string): Profile {
  const profile = PROFILES.find((known) => known === name);
  if (profile !== undefined) return profile;
  throw new UsageError(`there is no profile "${name}"; profiles are ${PROFILES.join(', ')}`);
}

function milliseconds(name: string, text: string): number {
  const ms = Number(text);
  if (Number.isSafeInteger(ms) && ms > 0) return ms;
  throw new UsageError(`${name} must be a whole number of milliseconds, not "${text}"`);
}
