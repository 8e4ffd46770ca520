import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createUser } from '@nats-io/nkeys';
import type { NatsConnection } from '@nats-io/transport-node';
import { planOfRunbook, type Runbook } from '#libs/planner';
import { connectBus, QueryRefusedError, serveQueries, type Served } from '#libs/messaging';
import { loadRunbooks, parseRunbookFile, runbookDirectories } from '#libs/prompts';
import { ANYBODY, startTestNats, type TestNats } from '#libs/testing';
import type { RunEvent } from '#proto';
import { renderExport } from '#libs/audit';
import { runProgram } from '../../run-program.js';
import { fakeTerminal, surroundings } from '../../testing/fake-terminal.js';
import { sampleEvents, sampleRecords, SAMPLE_RUN, sealRun } from '../../testing/sample-run.js';

const HASH = 'a'.repeat(64);

let server: TestNats;
let nc: NatsConnection;
let served: Served;
let directory: string;
let runbooks: readonly Runbook[];

async function orrery(line: string) {
  const terminal = fakeTerminal();
  const env = {
    ORRERY_NATS_URL: server.url,
    ORRERY_HOME: join(directory, 'home'),
    ORRERY_NATS_SEED_FILE: join(directory, 'cli.seed'),
  };
  const words = line.split(' ').map((word) => word.replace('DIR', directory));
  const exitCode = await runProgram(words, surroundings(terminal, env));
  return { exitCode, out: terminal.outLines.join('\n'), err: terminal.errLines.join('\n') };
}

/** What stands for the planner. Its fleet has one device. */
async function servePlanner(): Promise<Served> {
  const notAsked = () => Promise.reject(new Error('not asked'));
  const fleet = {
    complete: true,
    watchedMs: 0,
    devices: new Map(),
    running: () => 0,
    reserved: () => 0,
    slotsLeft: Infinity,
  };
  const view = { ...fleet, circuit: () => ({ state: 'closed' }) as const, agents: new Set<string>() };
  return serveQueries(
    nc,
    'planner',
    {
      'dlq-retry': notAsked,
      settings: notAsked,
      prompt: notAsked,
      match: notAsked,
      experiences: notAsked,
      learn: notAsked,
      demonstrate: notAsked,
      forget: notAsked,
      evaluate: notAsked,
      runbooks: async () => ({
        runbooks: runbooks.map(({ info }) => info),
        problems: ['x.yaml: title: \u001B[31mmissing'],
      }),
      runbook: async ({ name, parameters }) => {
        const runbook = runbooks.find(({ info }) => info.name === name);
        if (runbook === undefined) {
          throw new QueryRefusedError({ code: 'NOT_FOUND', message: `there is no runbook ${name}`, issues: [] });
        }
        const plan = planOfRunbook(runbook, parameters, { fleet: view });
        if (plan.ok) return { runbook: runbook.info, constellation: plan.constellation, issues: [] };
        return { runbook: runbook.info, constellation: null, issues: [...plan.issues] };
      },
    },
    { authority: ANYBODY },
  );
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'orrery-runbooks-'));
  await writeFile(join(directory, 'cli.seed'), createUser().getSeed());
  server = await startTestNats();
  nc = await connectBus({ url: server.url, name: 'test', inboxPrefix: '_INBOX_test' });
  ({ runbooks } = await loadRunbooks(runbookDirectories({})));
  served = await servePlanner();
  await writeFile(join(directory, 'run.jsonl'), renderExport(sampleRecords()));
  const secret = JSON.parse(
    JSON.stringify(sampleEvents({ a: HASH, b: HASH })).replaceAll(
      '"command":"true"',
      '"command":"mysql --password hunter2"',
    ),
  ) as RunEvent[][];
  await writeFile(join(directory, 'secret.jsonl'), renderExport(sealRun(secret)));
  await writeFile(join(directory, 'half.jsonl'), renderExport(sampleRecords().slice(0, 1)));
});
afterAll(async () => {
  await served.stop();
  await nc.close();
  await server.stop();
  await rm(directory, { recursive: true, force: true });
});

describe('orrery runbooks', () => {
  it('lists them with their parameters, and says which files are not used', async () => {
    const { exitCode, out, err } = await orrery('runbooks');
    expect(exitCode).toBe(0);
    expect(out.split('\n')).toContain('failed-ssh-logins\t[days] [top] [file] [tags]\tshipped\tFailed SSH logins');
    expect(out).toContain('restart-service\tservice device\tshipped\tRestart a service');
    expect(err).toBe('Not used: x.yaml: title: missing');
  });

  it.each(['runbooks --json', 'runbooks ls --json'])('lists them as JSON: %s', async (line) => {
    const { out } = await orrery(line);
    const listed = JSON.parse(out) as { runbooks: { name: string }[]; problems: string[] };
    expect(listed.runbooks.map(({ name }) => name)).toEqual(runbooks.map(({ info }) => info.name));
    expect(listed.problems).toHaveLength(1);
  });

  it('show says what a runbook takes, and what its plan needs', async () => {
    const { exitCode, out } = await orrery('runbooks show restart-service');
    expect(exitCode).toBe(0);
    expect(out).toContain('  device: where it runs (the id of a device; required)');
    expect(out).toContain('  restart-service service=... device=...\n  restart {service} on {device}');
    expect(out).toContain('No plan without more: parameters.service: is needed');
  });

  it('show prints the plan that parameters make', async () => {
    const { out } = await orrery('runbooks show run-script script=true tags=db');
    expect(out).toContain('Plan now:\n  script: Script, EXEC_CLI on any {"os":"linux","tags":["db"]}');
    const { out: json } = await orrery('runbooks show run-script script=true --json');
    expect(JSON.parse(json)).toMatchObject({
      runbook: { name: 'run-script' },
      constellation: { name: 'run-script' },
      issues: [],
    });
  });

  it.each([
    [
      'runbooks show run-script timeout=0 script=a',
      /parameters\.timeout: must be a whole number from 1 to 86000, not "0"/u,
    ],
    ['runbooks show run-script what', /"what" is no parameter; write key=value/u],
    ['runbooks show Nothing', /is no name of a runbook/u],
    ['runbooks show nothing', /there is no runbook nothing/u],
  ])('%s is bad input', async (line, sentence) => {
    const { exitCode, err } = await orrery(line);
    expect(exitCode).not.toBe(0);
    expect(err).toMatch(sentence);
  });
});

describe('orrery runbooks check', () => {
  it('says that a file is a runbook', async () => {
    const file = join(runbookDirectories({})[0]?.path ?? '', 'fleet-health.yaml');
    const { exitCode, out } = await orrery(`runbooks check ${file}`);
    expect({ exitCode, out }).toEqual({
      exitCode: 0,
      out: expect.stringMatching(/is the runbook fleet-health \([0-9a-f]{64}\)$/u),
    });
    const { out: json } = await orrery(`runbooks check ${file} --json`);
    expect(JSON.parse(json)).toMatchObject({ valid: true, name: 'fleet-health', tasks: 3, dependencies: 2 });
  });

  it('names the field that lets a parameter become a command, and what to write', async () => {
    const text = (await readFile(join(runbookDirectories({})[0]?.path ?? '', 'disk-space-alert.yaml'), 'utf8')).replace(
      "command: sed '1s",
      "command: echo {{ p.threshold }}; sed '1s",
    );
    await writeFile(join(directory, 'bad.yaml'), text);
    const { exitCode, err } = await orrery('runbooks check DIR/bad.yaml');
    expect(exitCode).toBe(3);
    expect(err).toMatch(
      /bad\.yaml is no runbook: constellation\.tasks\[2\]\.command\.arguments\.command: a value reaches a command line as \{\{ p\.threshold \| sh \}\} only/u,
    );
  });
});

describe('orrery runbooks save', () => {
  it('writes a draft with what is to be reviewed, which check takes', async () => {
    const { exitCode, out } = await orrery('runbooks save DIR/run.jsonl --name mine -o DIR/mine.yaml');
    expect({ exitCode, out }).toEqual({
      exitCode: 0,
      out: `draft of the runbook mine written to ${join(directory, 'mine.yaml')}; read its first lines`,
    });
    const text = await readFile(join(directory, 'mine.yaml'), 'utf8');
    expect(text).toMatch(
      new RegExp(`^# A draft, made of run ${SAMPLE_RUN}\\. Before it is used:\n# - Read every command`, 'u'),
    );
    const parsed = parseRunbookFile(Buffer.from(text), 'operator');
    expect(parsed).toMatchObject({
      ok: true,
      runbook: { file: { name: 'mine', constellation: { tasks: [{ task_id: 'a' }, { task_id: 'b' }] } } },
    });
    expect((await orrery('runbooks check DIR/mine.yaml')).exitCode).toBe(0);
  });

  it('prints it, or JSON', async () => {
    const { out } = await orrery('runbooks save DIR/run.jsonl --name mine');
    expect(parseRunbookFile(Buffer.from(out), 'operator')).toMatchObject({ ok: true });
    const { out: json } = await orrery('runbooks save DIR/run.jsonl --name mine --json');
    expect(JSON.parse(json)).toMatchObject({ runId: SAMPLE_RUN, name: 'mine', file: null, runbook: { name: 'mine' } });
  });

  it('does not write what looks like a secret, and says where it stands', async () => {
    const { exitCode, out, err } = await orrery('runbooks save DIR/secret.jsonl --name mine -o DIR/secret.yaml --json');
    expect(exitCode).toBe(3);
    const places = [0, 1].map((index) => `constellation.tasks[${index}].command.arguments.command`);
    expect(err).toContain(`something in ${places.join(', ')} looks like a secret`);
    expect(JSON.parse(out)).toMatchObject({ error: { issues: places.map((path) => ({ path })) } });
    expect(out + err).not.toContain('hunter2');
    await expect(readFile(join(directory, 'secret.yaml'))).rejects.toThrow(/ENOENT/u);
  });

  it('writes it for who has looked, and says so in its first lines', async () => {
    const { exitCode, out } = await orrery('runbooks save DIR/secret.jsonl --name mine --allow-secret-looking');
    expect(exitCode).toBe(0);
    expect(out).toMatch(/^# - Something in these looks like a secret.*: constellation\.tasks\[0\]\.command/mu);
    expect(parseRunbookFile(Buffer.from(out), 'operator')).toMatchObject({ ok: true });
  });

  it.each([
    ['runbooks save DIR/half.jsonl --name mine', /has not ended yet|no constellation/u],
    ['runbooks save DIR/run.jsonl --name My', /is no name of a runbook/u],
    ['runbooks save DIR/nowhere.jsonl --name mine', /There is no file/u],
  ])('%s is refused', async (line, sentence) => {
    const { exitCode, err } = await orrery(line);
    expect(exitCode).toBe(3);
    expect(err).toMatch(sentence);
  });
});
