import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { renderExport } from '#libs/audit';
import { runProgram } from './run-program.js';
import { fakeTerminal, surroundings } from './testing/fake-terminal.js';
import { sampleRecords, SAMPLE_RUN } from './testing/sample-run.js';

let directory = '';
const file = (name: string): string => join(directory, name);
const at = (line: string): string[] => line.split(' ').map((word) => word.replace('DIR', directory));

/** Runs a command line without any system. */
async function orrery(line: string) {
  const terminal = fakeTerminal();
  const exitCode = await runProgram(at(line), surroundings(terminal, { ORRERY_HOME: file('home') }));
  return { exitCode, out: terminal.outLines, err: terminal.errLines };
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'orrery-cli-'));
  const exported = renderExport(sampleRecords());
  await writeFile(file('run.jsonl'), exported);
  await writeFile(file('bad.jsonl'), exported.replace('"service":"orchestrator"', '"service":"somebody"'));
  await writeFile(file('short.jsonl'), exported.split('\n').slice(0, 3).join('\n'));
  await writeFile(file('cycle.yaml'), CYCLE);
});
afterAll(() => rm(directory, { recursive: true, force: true }));

const CYCLE = `name: cycle
tasks:
  - { id: a, name: A, target: { device: web-1 }, command: { tool: SYS_INFO } }
  - { id: b, name: B, target: { device: web-1 }, command: { tool: SYS_INFO } }
lines:
  - { id: l1, from: a, to: b }
  - { id: l2, from: b, to: a }
`;

describe('bad input ends with code 3 and one sentence', () => {
  it.each([
    ['sbmit', "orrery: Unknown command 'sbmit' (Did you mean submit?)"],
    [
      'runs --limit many',
      "orrery: Option '--limit <n>' argument 'many' is invalid. A whole number from 1 to 1000 is needed.",
    ],
    [
      'runs --limit 0',
      "orrery: Option '--limit <n>' argument '0' is invalid. A whole number from 1 to 1000 is needed.",
    ],
    ['show', "orrery: Missing required argument 'run|file'."],
    ['show a b', "orrery: Too many arguments for 'show'. Expected 1 argument but got 2: a, b."],
    ['submit', 'orrery: Give a goal or a file (-f), one of them.'],
    ['submit goal -f plan.yaml', 'orrery: Give a goal or a file (-f), one of them.'],
    ['submit goal --output', 'orrery: --output shows what is written while it waits: add --wait.'],
    ['submit -f DIR/none.yaml', 'orrery: DIR/none.yaml cannot be read (ENOENT).'],
    ['submit -f DIR', 'orrery: DIR cannot be read (EISDIR).'],
    [
      'submit goal --request-id a.b',
      'orrery: requestId: a request id must be 1 to 64 characters out of A-Z, a-z, 0-9, "_" and "-"',
    ],
    ['export r1 --as yaml', "orrery: Option '--as <form>' argument 'yaml' is invalid. Allowed choices are jsonl, ufo."],
    ['cancel', "orrery: Missing required argument 'run'."],
    ['cancel not/a/run', 'orrery: "not/a/run" is neither a file nor a run id; a run id has 26 letters and digits.'],
    [
      'pause r1 --id a.b',
      'orrery: --id: the id of a verb must be 1 to 64 characters out of A-Z, a-z, 0-9, "_" and "-"',
    ],
    [
      'resume r1 --timeout 0',
      "orrery: Option '--timeout <s>' argument '0' is invalid. A whole number from 1 to 600 is needed.",
    ],
    ['retry r1', "orrery: Missing required argument 'task'."],
    ['retry r1 a.b', 'orrery: taskId: a task id must be 1 to 64 characters out of A-Z, a-z, 0-9, "_" and "-"'],
    ['fork r1', "orrery: Required option '--at <n>' not specified."],
    ['fork r1 --at 0', "orrery: Option '--at <n>' argument '0' is invalid. A whole number of at least 1 is needed."],
    ['propose r1', "orrery: Required option '-f, --file <file>' not specified."],
    ['propose r1 -f DIR/none.yaml', 'orrery: DIR/none.yaml cannot be read (ENOENT).'],
    ['devices revoke', "orrery: Missing required argument 'id'."],
    ['devices show', "orrery: Missing required argument 'id'."],
    ['clients revoke', "orrery: Missing required argument 'id'."],
    ['devices enroll --url x', 'orrery: --url must be a ws:// or wss:// address such as wss://orrery.example.org/ws'],
    [
      'clients enroll --id a.b',
      'orrery: --id: a client id must be 1 to 64 characters out of A-Z, a-z, 0-9, "_" and "-"',
    ],
    ['verify', 'orrery: Give a run, a file, or --all.'],
    ['verify x --all', 'orrery: Give a run, a file, or --all.'],
    ['verify --all --head x', 'orrery: --head is the hash of a commit of one run: give the run, or a file of it.'],
    ['verify none.jsonl', 'orrery: There is no file none.jsonl.'],
    ['watch not/a/run', 'orrery: "not/a/run" is neither a file nor a run id; a run id has 26 letters and digits.'],
    ['show DIR/run.jsonl --at 8', `orrery: --at: run ${SAMPLE_RUN} has 7 events`],
    [
      'replay DIR/run.jsonl --speed 0',
      "orrery: Option '--speed <x>' argument '0' is invalid. A number greater than 0 is needed.",
    ],
    [
      'dlq drop x',
      "orrery: Command-argument value 'x' is invalid for argument 'id'. A whole number of at least 1 is needed.",
    ],
  ])('%s', async (line, sentence) => {
    const { exitCode, out, err } = await orrery(line);
    expect({ exitCode, out, err }).toEqual({
      exitCode: 3,
      out: [],
      err: [sentence.replaceAll(/\bDIR\b/gu, directory)],
    });
  });

  it('names the field of a constellation that is well-formed and makes no sense', async () => {
    const { exitCode, err } = await orrery('submit -f DIR/cycle.yaml');
    expect(exitCode).toBe(3);
    expect(err).toHaveLength(1);
    expect(err[0]).toMatch(/cycle\.yaml: lines.*: .*cycle/u);
  });

  it('says where JSON is asked for and there is nothing to print as JSON', async () => {
    const { exitCode, err } = await orrery('mcp serve r1 --json');
    expect({ exitCode, err }).toEqual({ exitCode: 3, err: [expect.stringContaining('takes no --json')] });
    const help = await orrery('mcp serve --help');
    expect([help.exitCode, help.out.join('\n')]).toEqual([0, expect.not.stringContaining('--json')]);
  });

  it('says it as JSON, too, when JSON is asked for', async () => {
    const { exitCode, out } = await orrery('submit -f DIR/cycle.yaml --json');
    expect(exitCode).toBe(3);
    expect(JSON.parse(out.join(''))).toMatchObject({
      error: { exitCode: 3, issues: [{ path: expect.stringMatching(/^lines/u) }] },
    });
  });
});

describe('nobody there ends with code 4', () => {
  it.each([
    'cancel r1',
    'fork r1 --at 2',
    'runs',
    'devices',
    'devices show web-1',
    'devices enroll',
    'clients',
    'clients enroll',
    'watch r1',
    'output r1',
    'show r1',
    'verify --all',
    'dlq ls',
    'submit goal',
  ])('%s', async (line) => {
    const { exitCode, out, err } = await orrery(line);
    expect({ exitCode, out }).toEqual({ exitCode: 4, out: [] });
    expect(err).toEqual([
      `orrery: No system is running in ${file('home')}; start one with "orrery up", or set ORRERY_NATS_URL.`,
    ]);
  });
});

describe('a file needs nobody', () => {
  it('verify: a run as it was written', async () => {
    const { exitCode, out } = await orrery('verify DIR/run.jsonl');
    expect(exitCode).toBe(0);
    expect(out).toEqual([
      expect.stringMatching(
        `^ok  ${SAMPLE_RUN}  COMPLETED succeeded, 3 commits, 7 events, 2 attempts, head [0-9a-f]{16}$`,
      ),
      expect.stringContaining('who wrote it, and whether its end is missing, it cannot show'),
    ]);
  });

  it('verify: an altered one ends with code 1 and says what and where', async () => {
    const { exitCode, out } = await orrery('verify DIR/bad.jsonl');
    expect(exitCode).toBe(1);
    expect(out).toContain(`    run ${SAMPLE_RUN}, RUNS commit 1: its hash is not the hash of its content`);
  });

  it('verify: a shortened one ends with code 1', async () => {
    const { exitCode, out } = await orrery('verify DIR/short.jsonl --json');
    expect(exitCode).toBe(1);
    expect(JSON.parse(out.join(''))).toMatchObject({
      ok: false,
      problems: [
        expect.stringContaining('line 1: it says that the file has 5 lines, but there are 3'),
        expect.anything(),
        expect.anything(),
      ],
    });
  });

  it('show: the state in the middle, with its drawing', async () => {
    const { exitCode, out } = await orrery('show DIR/run.jsonl --at 4');
    expect(exitCode).toBe(0);
    expect(out.slice(0, 2)).toEqual(['sample  WAITING  1/2 tasks', '✔ a @web-1 ──▶ ○ b']);
  });

  it('show: the shape that programs read', async () => {
    const { out } = await orrery('show DIR/run.jsonl --json');
    expect(JSON.parse(out.join(''))).toMatchObject({
      runId: SAMPLE_RUN,
      status: 'COMPLETED',
      outcome: 'succeeded',
      sequence: 7,
      tasks: [{ id: 'a', status: 'COMPLETED', attempts: 1, device: 'web-1' }, { id: 'b' }],
      lines: [{ id: 'l1', from: 'a', to: 'b', type: 'success-only', satisfied: true }],
    });
  });

  it('replay: the constellation as it evolved', async () => {
    const { exitCode, out } = await orrery('replay DIR/run.jsonl');
    expect(exitCode).toBe(0);
    expect(out).toEqual([
      '#1',
      '12:00:00Z RUN_REQUESTED sample by operator: sample',
      '12:00:00Z CONSTELLATION_MODIFIED revision 1: 2 tasks, 1 line',
      '12:00:00Z TASK_STARTED a on web-1',
      '    sample  RUNNING  0/2 tasks',
      '    ● a @web-1 ──▶ ○ b',
      '',
      '#2',
      '12:00:00Z TASK_COMPLETED a',
      '12:00:00Z TASK_STARTED b on web-1',
      '    sample  RUNNING  1/2 tasks',
      '    ✔ a @web-1 ──▶ ● b @web-1',
      '',
      '#3',
      '12:00:00Z TASK_COMPLETED b',
      '12:00:00Z RUN_COMPLETED succeeded (2 completed)',
      '    sample  COMPLETED succeeded  2/2 tasks',
      '    ✔ a @web-1 ──▶ ✔ b @web-1',
      '',
    ]);
  });

  it('export --as ufo: the constellation', async () => {
    const { exitCode, out } = await orrery('export DIR/run.jsonl --as ufo');
    expect(exitCode).toBe(0);
    expect(JSON.parse(out.join(''))).toMatchObject({ name: 'sample', tasks: expect.anything() });
  });

  it('report: Markdown', async () => {
    const { exitCode, out } = await orrery('report DIR/run.jsonl');
    expect(exitCode).toBe(0);
    expect(out[0]).toMatch(/^# Report of run .*sample/u);
  });

  it('report --json: its figures, too', async () => {
    const { exitCode, out } = await orrery('report DIR/run.jsonl --json');
    expect(exitCode).toBe(0);
    expect(JSON.parse(out.join(''))).toMatchObject({
      markdown: expect.stringContaining('## Figures'),
      metrics: {
        waitedMs: 0,
        rounds: [],
        attempts: [
          { taskId: 'a', attempt: 1, outcome: 'completed' },
          { taskId: 'b', attempt: 1, outcome: 'completed' },
        ],
      },
    });
  });

  it('report, show and replay of a damaged file refuse to pretend', async () => {
    const { exitCode, err } = await orrery('report DIR/short.jsonl');
    expect(exitCode).toBe(3);
    expect(err[0]).toMatch(/short\.jsonl is damaged: line 1: .* Try: orrery verify/u);
  });
});

describe('help', () => {
  it.each([
    '',
    'demo',
    'up',
    'down',
    'status',
    'submit',
    'watch',
    'output',
    'runs',
    'cancel',
    'pause',
    'resume',
    'retry',
    'fork',
    'propose',
    'show',
    'replay',
    'verify',
    'export',
    'report',
    'devices',
    'devices show',
    'devices enroll',
    'devices hold',
    'devices release',
    'devices revoke',
    'clients',
    'clients enroll',
    'clients revoke',
    'dlq',
    'dlq ls',
    'dlq show',
    'dlq retry',
    'dlq drop',
  ])('of %j has an example', async (command) => {
    const { exitCode, out } = await orrery(`${command} --help`.trim());
    expect(exitCode).toBe(0);
    expect(out.join('\n')).toMatch(/Examples:\n {2}\$ (?:\w+=\S+ )*orrery /u);
  });

  it('is what somebody gets who says nothing', async () => {
    const { exitCode, err } = await orrery('dlq');
    expect(exitCode).toBe(3);
    expect(err[0]).toBe('Usage: orrery dlq [options] [command]');
  });
});
