import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createUser } from '@nats-io/nkeys';
import { connect } from '@nats-io/transport-node';
import { startTestNats, type TestNats } from '#libs/testing';
import { subjects } from '#proto';
import { runProgram } from './run-program.js';
import { everyVerb, type Verb } from './testing/every-verb.js';
import { fakeTerminal, surroundings } from './testing/fake-terminal.js';
import { GREETING, startCutOff, startSilent, type MuteBus } from './testing/mute-bus.js';

/** What has nothing to do with the bus of ORRERY_NATS_URL. Every other verb needs it, and says so when it is not there. */
const WITHOUT_BUS: ReadonlySet<string> = new Set([
  'down', // processes of a home
  'status',
  'doctor', // tells what it found instead: exit code 1
  'logs', // files of a home
  'restart',
  'devices archive',
  'context list', // a file of the person
  'context add',
  'context use',
  'context remove',
  'console', // a key, and where browsers reach it
  'completion', // the table of commands
  'man',
  'policy check', // a file
  'policy show',
  'runbooks check',
]);
/** What starts a system of its own; an end of it while it starts is played with real processes. */
const OWN_SYSTEM = 'demo';

const MAIN = join(process.cwd(), 'dist/services/cli/main.js');
const LIMIT_S = 0.6;
const LONG_S = 60;

/** A verb goes on trying for as long as it is told, and says then how it is said again. */
const AGAIN = /say it again with --id|to say it again does no harm/u;

let server: TestNats;
let directory: string;
let verbs: readonly Verb[];
const buses: MuteBus[] = [];
const file = (name: string): string => join(directory, name);

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'orrery-verbs-'));
  const user = createUser();
  await writeFile(file('user.seed'), user.getSeed(), { mode: 0o600 });
  await writeFile(file('edits.json'), JSON.stringify({ edits: [] }));
  const steps = [{ description: 'look', command: 'df -P' }];
  await writeFile(file('steps.json'), JSON.stringify({ name: 'by hand', request: 'Report the disks', steps }));
  const given = { file: file('edits.json'), steps: file('steps.json'), key: user.getPublicKey() };
  verbs = everyVerb(given).filter(({ name }) => name !== OWN_SYSTEM);
  server = await startTestNats({ provisioned: true });
});
afterAll(async () => {
  await Promise.all(buses.map((bus) => bus.stop()));
  await server.stop();
  await rm(directory, { recursive: true, force: true });
});

const environment = (url: string, seconds: number): NodeJS.ProcessEnv => ({
  ORRERY_HOME: file('home'),
  ORRERY_NATS_URL: url,
  ORRERY_NATS_SEED_FILE: file('user.seed'),
  ORRERY_DATABASE_URL: 'postgres://orrery@127.0.0.1:1/orrery',
  ORRERY_BUS_TIMEOUT: String(seconds),
});

interface Ended {
  readonly name: string;
  readonly exitCode: number;
  readonly said: string;
}

interface Conditions {
  readonly seconds: number;
  readonly signal?: AbortSignal;
}

/** Each verb once, all at the same time. Resolves when all have ended. */
async function allEnd(url: string, { seconds, signal }: Conditions): Promise<readonly Ended[]> {
  const env = environment(url, seconds);
  return Promise.all(
    verbs.map(async ({ name, words }) => {
      const terminal = fakeTerminal();
      const around = { ...surroundings(terminal, env), ...(signal === undefined ? {} : { signal }) };
      const exitCode = await runProgram(words, around);
      return { name, exitCode, said: terminal.errLines.join('\n') };
    }),
  );
}

const onBus = (all: readonly Ended[]): readonly Ended[] => all.filter(({ name }) => !WITHOUT_BUS.has(name));
const started = async (bus: Promise<MuteBus>): Promise<string> => {
  buses.push(await bus);
  return (await bus).url;
};

describe('every verb of the command line ends, and says with which address it had to do', () => {
  it.each([
    ['where nobody listens', async () => 'nats://127.0.0.1:1'],
    ['where somebody listens and says nothing', () => started(startSilent())],
    ['where a server greets and says no more', () => started(startSilent(GREETING))],
    ['where the line goes dead in mid-command', () => started(startCutOff(server.port))],
  ])('%s', async (_, start) => {
    const url = await start();
    const all = await allEnd(url, { seconds: LIMIT_S });
    const wrong = onBus(all).filter(
      ({ exitCode, said }) => exitCode !== 4 || !(said.includes(`NATS at ${url} `) || AGAIN.test(said)),
    );
    expect(wrong).toEqual([]);
    expect(all.filter(({ said }) => said.includes('This should not happen'))).toEqual([]);
  });

  it('where there is a server and nothing else', async () => {
    const all = await allEnd(server.url, { seconds: LIMIT_S });
    expect(all.filter(({ said }) => said.includes('This should not happen'))).toEqual([]);
  });
});

describe('one signal ends every verb', () => {
  it.each(['SIGINT', 'SIGTERM'] as const)('%s while it waits for a connection', async (name) => {
    const url = await started(startSilent());
    const stop = new AbortController();
    const all = allEnd(url, { seconds: LONG_S, signal: stop.signal });
    setImmediate(() => stop.abort(name));
    const expected = name === 'SIGINT' ? 130 : 143;
    expect(onBus(await all).filter(({ exitCode }) => exitCode !== expected)).toEqual([]);
  });

  it('in mid-command', async () => {
    const stop = new AbortController();
    let missing = verbs.length / 2;
    const url = await started(startCutOff(server.port, () => void (--missing < 0 && stop.abort('SIGINT'))));
    const all = await allEnd(url, { seconds: LONG_S, signal: stop.signal });
    expect(onBus(all).filter(({ exitCode }) => exitCode !== 130)).toEqual([]);
  });

  it.each([
    ['runs', 'SIGINT', 130, 'Stopped before there was a connection.'],
    ['up --devices 0', 'SIGTERM', 143, 'Stopped before everything was ready.'],
  ] as const)('as a process: %s, %s', async (line, name, code, words) => {
    const { promise: taken, resolve } = Promise.withResolvers<void>();
    const bus = await startSilent('', resolve);
    buses.push(bus);
    const env = { ...process.env, ...environment(bus.url, LONG_S) };
    const child = spawn(process.execPath, [MAIN, ...line.split(' ')], { env, stdio: ['ignore', 'ignore', 'pipe'] });
    const said = text(child.stderr);
    await taken;
    child.kill(name);
    const [exitCode] = (await once(child, 'exit')) as [number | null];
    expect([exitCode, await said]).toEqual([code, expect.stringContaining(words)]);
  });
});

describe('a word about the inbox', () => {
  const ENTRY = '4kq7w2m9x0ab';
  /** What a command says when whoever listens does this with each try, and it is given up after this long. */
  async function said(listen?: (id: string, tries: number) => unknown, forS = 2) {
    const bus = await connect({ servers: server.url });
    const tries: string[] = [];
    if (listen !== undefined) {
      bus.subscribe(subjects.query('logging', 'attention-take'), {
        callback: (_, message) => {
          tries.push(message.json<{ id: string }>().id);
          const answer = listen(tries[0] ?? '', tries.length);
          if (answer !== undefined) message.respond(JSON.stringify(answer));
        },
      });
      await bus.flush();
    }
    const terminal = fakeTerminal();
    const env = environment(server.url, LONG_S);
    const exitCode = await runProgram(
      ['attention', 'take', ENTRY, '--timeout', String(forS)],
      surroundings(terminal, env),
    );
    await bus.close();
    return { exitCode, out: terminal.outLines, err: terminal.errLines.join('\n'), tries: new Set(tries) };
  }

  it('that nobody can have heard changed nothing, and that is said', async () =>
    expect(await said()).toMatchObject({
      exitCode: 4,
      err: expect.stringMatching(/not running.*Trying again for up to 2 s.\n.*not running.*Nothing was done about/su),
    }));

  it('that somebody may have heard is said to be unknown', async () =>
    expect(await said(() => undefined)).toMatchObject({
      exitCode: 4,
      err: expect.stringContaining(`Whether it was recorded of ${ENTRY} is not known; to say it again does no harm.`),
    }));

  it('is said again under its id until there is an answer', async () => {
    const refusal = { error: { code: 'TRY_AGAIN', message: 'PostgreSQL is not there yet.', issues: [] } };
    const by = { kind: 'person', id: 'anna' };
    const word = { attentionId: ENTRY, state: 'taken', by, at: '2026-11-20T12:00:00.000Z', changed: true };
    const { exitCode, out, tries } = await said((_, times) => (times < 3 ? refusal : word), LONG_S);
    expect([exitCode, out, tries.size]).toEqual([0, [`${ENTRY} is taken on by anna`], 1]);
  });
});
