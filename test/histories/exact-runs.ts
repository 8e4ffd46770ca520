import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { exact, gate, line, piped, type Recording, sh } from './recording.js';

/* Runs of exact commands: every way in which a task may end, and what follows from it for those behind it. */

type Stories = Readonly<Record<string, (recording: Recording) => Promise<unknown>>>;

const jail = ({ system }: Recording): string => join(system.home, 'devices/web-1/jail');
const make = async (recording: Recording, file: string): Promise<void> => {
  await mkdir(jail(recording), { recursive: true });
  await writeFile(join(jail(recording), file), '');
};

/** All of this is there in the request; lines have a type where they are to have one. */
const PLAIN: Readonly<Record<string, readonly [request: object, end: string]>> = {
  succeeded: [
    exact(
      'succeeded',
      [
        sh('a', 'echo a'),
        sh('b', 'echo b', { target: { device: 'db-1' } }),
        sh('c', 'echo c', { target: { os: 'linux' } }),
      ],
      [line('a', 'b', 'success-only'), line('a', 'c', 'success-only')],
    ),
    'succeeded',
  ],
  'untyped-lines': [
    // No line says when it lets go: of this version each of them means "whatever happened".
    exact(
      'untyped-lines',
      [sh('a', 'echo half; exit 3'), sh('b', 'echo after a failure'), sh('c', 'echo at the end')],
      [line('a', 'b'), line('b', 'c'), line('a', 'c')],
    ),
    'partially_failed',
  ],
  failed: [exact('failed', [sh('a', 'echo out; echo err >&2; exit 7')]), 'FAILED'],
  'no-such-program': [exact('no-such-program', [sh('a', 'no-such-program-here')]), 'FAILED'],
  'unknown-tool': [
    exact('unknown-tool', [sh('a', '', { command: { tool: 'SYS_INFO', arguments: { info_type: 'none' } } })]),
    'FAILED',
  ],
  'skipped-by-failure': [
    exact(
      'skipped-by-failure',
      [sh('a', 'exit 1'), sh('b', 'echo never'), sh('c', 'echo never'), sh('d', 'echo d')],
      [line('a', 'b', 'success-only'), line('b', 'c', 'success-only'), line('a', 'd', 'unconditional')],
    ),
    'partially_failed',
  ],
  conditions: [
    exact(
      'conditions',
      [
        sh('count', 'echo 16627'),
        sh('high', 'echo high'),
        sh('low', 'echo low'),
        sh('below', 'echo never'),
        sh('number', 'echo never'),
        sh('typo', 'echo never'),
        sh('join', 'echo join'),
      ],
      [
        line('count', 'high', 'conditional', 'result.exit_code == 0 && result.stdout.contains("16")'),
        line('count', 'low', 'conditional', 'result.exit_code != 0'),
        line('low', 'below', 'success-only'),
        line('count', 'number', 'conditional', 'int(result.stdout) > 200'),
        line('count', 'typo', 'conditional', 'result.exit_cod == 0'),
        line('high', 'join'),
        line('low', 'join'),
      ],
    ),
    'succeeded',
  ],
  'condition-after-failure': [
    exact(
      'condition-after-failure',
      [sh('a', 'exit 4'), sh('b', 'echo four'), sh('c', 'echo never')],
      [
        line('a', 'b', 'conditional', 'status == "FAILED" && result.exit_code == 4'),
        line('a', 'c', 'conditional', 'status == "COMPLETED"'),
      ],
    ),
    'partially_failed',
  ],
  'stdin-from': [
    exact(
      'stdin-from',
      [
        sh('a', 'echo from a'),
        sh('b', "printf 'from b'"),
        piped('c', 'cat; echo .', ['b', 'a']),
        piped('d', 'wc -c', ['c']),
      ],
      [line('a', 'c', 'success-only'), line('b', 'c', 'success-only'), line('c', 'd', 'success-only')],
    ),
    'succeeded',
  ],
  'cut-output': [
    // What is behind the cut is not seen by conditions of this version, and the marker of the cut is what stdin brings.
    exact(
      'cut-output',
      [
        sh('a', 'seq 1 3000; echo NEEDLE; seq 3001 6000'),
        sh('found', 'echo found'),
        piped('lines', 'wc -l', ['a']),
        sh('both', 'seq 1 20000; seq 1 20000 >&2; exit 2'),
      ],
      [line('a', 'found', 'conditional', 'result.stdout.contains("NEEDLE")'), line('a', 'lines', 'success-only')],
    ),
    'partially_failed',
  ],
  verified: [
    exact('verified', [
      sh('a', 'echo marked > marker', {
        verify: {
          command: { tool: 'EXEC_CLI', arguments: { command: 'cat marker' } },
          condition: 'result.stdout.contains("marked")',
        },
      }),
      sh('b', 'echo b', { verify: { condition: 'result.exit_code == 0' } }),
    ]),
    'succeeded',
  ],
  'verify-failed': [
    exact('verify-failed', [
      sh('a', 'true', { verify: { command: { tool: 'EXEC_CLI', arguments: { command: 'test -e never-made' } } } }),
      sh('b', 'echo 1', { verify: { condition: 'result.stdout == "2"' } }),
      sh('c', 'echo 1', { verify: { condition: 'result.no_such_field > 2' } }),
      sh('d', 'seq 1 3000; echo NEEDLE; seq 3001 6000', { verify: { condition: 'result.stdout.contains("NEEDLE")' } }),
    ]),
    'FAILED',
  ],
  'retry-backoff': [
    exact('retry-backoff', [
      sh('a', 'echo x >> tries; [ "$(wc -l < tries)" -ge 3 ]', {
        retry: { attempts: 4, backoffMs: 200, backoffMsMax: 300 },
      }),
      sh('b', 'exit 1', { retry: { attempts: 2 } }),
    ]),
    'partially_failed',
  ],
  timeout: [
    exact('timeout', [sh('a', 'echo begun; sleep 600', { timeoutMs: 700 }), sh('b', 'echo after')], [line('a', 'b')]),
    'partially_failed',
  ],
  'task-deadline': [
    exact('task-deadline', [sh('a', 'exit 1', { deadlineMs: 1_500, retry: { attempts: 10, backoffMs: 400 } })]),
    'FAILED',
  ],
  'run-deadline': [
    exact('run-deadline', [sh('a', 'sleep 600'), sh('b', 'echo never')], [line('a', 'b')], { deadlineMs: 2_000 }),
    'FAILED',
  ],
  'wide-and-narrow': [
    exact(
      'wide-and-narrow',
      [
        sh('first', 'echo first'),
        ...Array.from({ length: 12 }, (_, index) =>
          sh(`w${index}`, `echo ${index}`, { priority: index, target: { os: 'linux' } }),
        ),
        piped(
          'last',
          'sort -n',
          Array.from({ length: 12 }, (_, index) => `w${index}`),
        ),
      ],
      Array.from({ length: 12 }, (_, index) => [
        line('first', `w${index}`, 'success-only'),
        line(`w${index}`, 'last', 'success-only'),
      ]).flat(),
      { concurrency: 4, priority: 5 },
    ),
    'succeeded',
  ],
};

export const EXACT_RUNS: Stories = {
  ...Object.fromEntries(
    Object.entries(PLAIN).map(([name, [request, end]]) => [
      name,
      (recording: Recording) => recording.tell(name, request, end),
    ]),
  ),

  async cancelled(recording) {
    const runId = await recording.send(
      'cancelled',
      exact('cancelled', [sh('a', 'echo begun; exec sleep 600'), sh('b', 'echo never')], [line('a', 'b')]),
    );
    await recording.untilView(runId, 'a runs', ({ tasks }) => tasks[0]?.status === 'RUNNING');
    await recording.cli('cancel', runId, '--reason', 'wrong host');
    await recording.ends(runId, 'CANCELLED');
  },

  async 'paused-and-resumed'(recording) {
    const runId = await recording.send(
      'paused-and-resumed',
      exact('paused', [gate('a', 'go-paused'), sh('b', 'echo b')], [line('a', 'b', 'success-only')]),
    );
    await recording.untilView(runId, 'a runs', ({ tasks }) => tasks[0]?.status === 'RUNNING');
    await recording.cli('pause', runId, '--reason', 'lunch');
    await make(recording, 'go-paused');
    await recording.untilView(runId, 'a is done', ({ tasks }) => tasks[0]?.status === 'COMPLETED');
    await recording.cli('resume', runId);
    await recording.ends(runId, 'succeeded');
  },

  async 'retried-after-its-end'(recording) {
    const tasks = [sh('a', 'echo a; test -e flag'), sh('b', 'echo b')];
    const request = exact('retried', tasks, [line('a', 'b', 'success-only')]);
    const runId = await recording.tell('retried-after-its-end', request, 'FAILED');
    await make(recording, 'flag');
    await recording.cli('retry', runId, 'a');
    await recording.untilView(
      runId,
      'its second end',
      ({ status, tasks: [a] }) => status !== 'RUNNING' && a?.attempts === 2,
    );
  },

  async 'retried-while-it-runs'(recording) {
    const request = exact('retried', [sh('a', 'test -e flag2 && exit 0; touch flag2; exec sleep 600')]);
    const runId = await recording.send('retried-while-it-runs', request);
    await recording.untilView(runId, 'a runs', ({ tasks }) => tasks[0]?.status === 'RUNNING');
    await recording.cli('retry', runId, 'a');
    await recording.ends(runId, 'succeeded');
  },

  async forks(recording) {
    const tasks = [sh('a', 'echo hello'), piped('b', 'cat', ['a']), sh('c', 'exit 1')];
    const request = exact('to-be-forked', tasks, [line('a', 'b', 'success-only'), line('b', 'c', 'success-only')]);
    const runId = await recording.tell('forked', request, 'partially_failed');
    const done = await recording.untilEvent(
      runId,
      'the end of b',
      ({ type, data }) => type === 'TASK_COMPLETED' && data.taskId === 'b',
    );
    // Of the first one nobody knows what the task has done that ran there.
    const forks = await Promise.all([
      recording.fork('fork-of-unknown', runId, 3),
      recording.fork('fork-of-results', runId, done.sequence),
    ]);
    for (const each of forks) await recording.untilView(each, 'its end', ({ endedAt }) => endedAt !== null);
  },

  async 'edited-by-a-person'(recording) {
    const request = exact(
      'edited',
      [gate('a', 'go-edited'), sh('b', 'echo b'), sh('c', 'echo c')],
      [line('a', 'b', 'success-only'), line('a', 'c')],
    );
    const runId = await recording.send('edited-by-a-person', request);
    const file = join(recording.system.home, 'edits.json');
    const star = { description: '', tips: [] };
    const batches: readonly (readonly object[])[] = [
      [
        { tool: 'add_task', task: { ...sh('d', 'echo d'), ...star } },
        { tool: 'add_dependency', line: line('b', 'd', 'conditional', 'result.exit_code == 0') },
        { tool: 'update_task', taskId: 'c', change: { name: 'the third one', timeoutMs: 5_000 } },
      ],
      [
        { tool: 'update_dependency', lineId: 'b-d', change: { type: 'unconditional', condition: null } },
        { tool: 'remove_dependency', lineId: 'a-c' },
        { tool: 'remove_task', taskId: 'c' },
      ],
      [
        {
          tool: 'build_constellation',
          clear: false,
          constellation: { name: 'edited', tasks: [{ ...sh('e', 'echo e'), ...star }], lines: [line('a', 'e')] },
        },
      ],
    ];
    for (const edits of batches) {
      await writeFile(file, JSON.stringify(edits));
      await recording.cli('propose', runId, '-f', file);
    }
    await make(recording, 'go-edited');
    await recording.ends(runId, 'succeeded');
  },

  async 'edited-from-outside'(recording) {
    const request = exact('from-outside', [sh('a', 'exit 3')], [], {
      editPolicy: 'when-needed',
      planner: 'external',
      lockPolicy: 'scoped',
    });
    const runId = await recording.send('edited-from-outside', request);
    await recording.untilView(runId, 'its round', ({ editing }) => editing?.editId === 'e1');
    const file = join(recording.system.home, 'from-outside.json');
    await writeFile(file, JSON.stringify([{ tool: 'remove_task', taskId: 'a' }]));
    const refused = await recording.system.cli('propose', runId, '-f', file, '--edit-id', 'e1');
    if (refused.code !== 3) throw new Error(`an edit of a task that has ended was taken: ${refused.stdout}`);
    const added = { ...sh('why', 'echo because'), description: '', tips: [] };
    await writeFile(
      file,
      JSON.stringify([
        { tool: 'add_task', task: added },
        { tool: 'add_dependency', line: line('a', 'why') },
      ]),
    );
    await recording.cli('propose', runId, '-f', file, '--edit-id', 'e1', '--try', '2');
    await recording.untilView(runId, 'its second round', ({ editing }) => editing?.editId === 'e2');
    await writeFile(
      file,
      JSON.stringify({ editId: 'e2', state: 'FINISH', answer: { text: 'Because.', evidence: ['why'] } }),
    );
    await recording.cli('propose', runId, '-f', file);
    await recording.ends(runId, 'partially_failed');
  },

  'nobody-edits': (recording) =>
    recording.tell(
      'nobody-edits',
      exact('nobody-edits', [sh('a', 'exit 3'), sh('b', 'echo b')], [line('a', 'b')], {
        editPolicy: 'when-needed',
        planner: 'external',
        editDeadlineMs: 800,
      }),
      'partially_failed',
    ),
};

/** They go on while the system stops: another version finds them as they are. */
const WEEK_MS = 7 * 24 * 60 * 60 * 1_000;
export const OPEN_RUNS: Stories = {
  async 'open-paused'(recording) {
    const request = exact('open-paused', [gate('a', 'go-open'), sh('b', 'echo b')], [line('a', 'b')], {
      deadlineMs: WEEK_MS,
    });
    const runId = await recording.send('open-paused', request);
    await recording.untilView(runId, 'a runs', ({ tasks }) => tasks[0]?.status === 'RUNNING');
    await recording.cli('pause', runId, '--reason', 'until the next version');
    await make(recording, 'go-open');
    await recording.untilView(runId, 'a is done', ({ tasks }) => tasks[0]?.status === 'COMPLETED');
  },
  'open-device': (recording) =>
    recording.send(
      'open-device',
      exact('open-device', [sh('a', 'echo a', { target: { device: 'never-there' } })], [], { deadlineMs: WEEK_MS }),
    ),
  async 'open-round'(recording) {
    const options = { editPolicy: 'when-needed', planner: 'external', editDeadlineMs: 3_600_000, deadlineMs: WEEK_MS };
    const runId = await recording.send('open-round', exact('open-round', [sh('a', 'exit 3')], [], options));
    await recording.untilView(runId, 'its round', ({ editing }) => editing !== null);
  },
};
