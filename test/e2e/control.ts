import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, it } from '@jest/globals';
import type { ProfileEntry } from '#libs/constellation';
import type { AgentProfile, RunBoard, RunView, VerbAnswer } from '#proto';
import { writeRequest } from './requests.js';
import { type TestSystem, until } from './system.js';

/** A run under control of people, on web-1 and one other device: cancelled, paused, tried again, forked, talked to, edited. */
export function testsOfControl(system: () => TestSystem): void {
  const submitted: string[] = [];

  // Where a test failed it may be held, and others need it.
  afterAll(() => system().cli('devices', 'release', 'web-1'));

  it('is cancelled: the command dies on its device, what it printed is kept, and the log says who asked', async () => {
    const pidFile = join(system().home, 'cancelled.pid');
    const runId = await submit('cancelled', [
      exec('long', `echo begun; echo $$ > ${pidFile}; exec sleep 600`),
      exec('after', 'echo never'),
    ]);
    const pid = Number(await until('the command', () => readText(pidFile)));
    expect(isAlive(pid)).toBe(true);
    expect(await system().cli('cancel', runId, '--reason', 'wrong host', '--wait')).toMatchObject({ code: 2 });
    await until('the end of the process', async () => (isAlive(pid) ? undefined : true));
    const view = await system().show(runId);
    expect(view).toMatchObject({ status: 'CANCELLED', reason: 'wrong host' });
    expect(view.tasks.map(({ status }) => status)).toEqual(['CANCELLED', 'CANCELLED']);
    expect(view.tasks[0]?.result?.value).toMatchObject({ stdout: 'begun\n' });
    const ends = await system().eventsOf(runId, 'RUN_CANCELLED');
    expect(ends).toMatchObject([{ by: { kind: 'person', id: 'cli' }, reason: 'wrong host' }]);
    expect(await system().cli('cancel', runId)).toMatchObject({ code: 0 });
  });

  it('is paused and resumed; a device that is held gets nothing, and the run says what it waits for', async () => {
    const gate = join(system().home, 'gate');
    const runId = await submit('paused', [exec('first', untilFile(gate)), exec('second', 'echo done')]);
    await until('the first task', async () =>
      (await system().show(runId)).tasks[0]?.status === 'RUNNING' ? true : undefined,
    );
    expect(await system().cli('pause', runId, '--reason', 'lunch')).toMatchObject({ code: 0 });
    await writeFile(gate, '');
    const paused = await untilView(runId, ({ tasks }) => tasks[0]?.status === 'COMPLETED');
    expect(paused).toMatchObject({ status: 'PAUSED', waitingFor: { reason: 'paused', wokenBy: 'operator' } });
    expect((await system().cli('show', runId)).stdout).toContain('lunch');
    expect(await system().cli('devices', 'hold', 'web-1', '--reason', 'disk is being replaced')).toMatchObject({
      code: 0,
    });
    const waiting = await untilHeld();
    expect(await system().cli('resume', runId)).toMatchObject({ code: 0 });
    const held = await untilView(runId, ({ status }) => status === 'WAITING');
    expect(held.waitingFor).toMatchObject({ reason: 'device', wokenBy: 'fleet' });
    expect(await system().cli('devices', 'release', 'web-1')).toMatchObject({ code: 0 });
    for (const each of [runId, waiting]) expect(await system().untilEnd(each)).toMatchObject({ outcome: 'succeeded' });
  });

  /** Until the orchestrator, which follows the registry, knows that the device is held: a run that waits for it is the proof. */
  function untilHeld(): Promise<string> {
    let asked = 0;
    return until('a run that waits for a device', async () => {
      const runId = await submit(`held-${++asked}`, [exec('probe', 'true')]);
      const { status } = await untilView(runId, (view) => view.status === 'WAITING' || view.endedAt !== null);
      return status === 'WAITING' ? runId : undefined;
    });
  }

  it('is tried again after its end, from the task that failed', async () => {
    const [flag, effects] = [join(system().home, 'flag'), join(system().home, 'retried.effects')];
    const runId = await submit(
      'retried',
      [exec('a', `echo a >> ${effects}; test -f ${flag}`), exec('b', `echo b >> ${effects}`)],
      'success-only',
    );
    expect(await system().untilEnd(runId)).toMatchObject({ status: 'FAILED' });
    await writeFile(flag, '');
    expect(await system().cli('retry', runId, 'a', '--wait')).toMatchObject({ code: 0 });
    const view = await system().show(runId);
    expect(view).toMatchObject({ outcome: 'succeeded', tasks: [{ attempts: 2 }, { attempts: 1 }] });
    expect(await readFile(effects, 'utf8')).toBe('a\na\nb\n');
    expect(await system().cli('retry', runId, 'a')).toMatchObject({ code: 3 });
  });

  it('is forked: the new run goes on from there with the results of the old one, and runs nothing again', async () => {
    const effects = join(system().home, 'forked.effects');
    const source = exec('a', `echo a >> ${effects}; echo hello`);
    const sink = exec('b', `cat >> ${effects}`, { stdin: { from: ['a'] } });
    const runId = await submit('forked', [source, sink]);
    await system().untilEnd(runId);
    const started = await system().eventsOf(runId, 'TASK_STARTED');
    expect(started.map(({ taskId }) => taskId)).toEqual(['a', 'b']);
    // The first commit ends with the start of a: in a fork from there nobody knows what a has done.
    const unknown = await system().json<{ runId: string }>('fork', runId, '--at', '3', '--wait');
    submitted.push(unknown.runId);
    expect(await system().show(unknown.runId)).toMatchObject({
      parent: { runId, sequence: 3 },
      tasks: [{ status: 'FAILED', error: { outcome: 'unknown' } }, { status: 'COMPLETED' }],
    });
    expect(await readFile(effects, 'utf8')).toBe('a\nhello\n');
  });

  it('cleans up after a failure and only then, and takes a note after its end', async () => {
    const effects = join(system().home, 'cleaned.effects');
    const tasks = [
      exec('a', 'exit 3'),
      exec('mend', `echo mended >> ${effects}`),
      exec('more', `echo more >> ${effects}`),
    ];
    const runId = await submit('cleaned', tasks, 'failure-only');
    const ended = await system().untilEnd(runId);
    expect(ended.tasks.map(({ status }) => status)).toEqual(['FAILED', 'COMPLETED', 'SKIPPED']);
    expect(ended.outcome).toBe('partially_failed');
    expect(await system().eventsOf(runId, 'TASK_SKIPPED')).toMatchObject([{ taskId: 'more', by: 'condition' }]);
    expect(await readFile(effects, 'utf8')).toBe('mended\n');
    const note = ['annotate', runId, 'the disk was replaced at noon', '--task', 'a'];
    expect(await system().cli(...note)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`note added to run ${runId}`),
    });
    const wanted = { by: { kind: 'person', id: 'cli' }, text: 'the disk was replaced at noon', taskId: 'a' };
    expect(await system().show(runId)).toMatchObject({ status: ended.status, outcome: ended.outcome, notes: [wanted] });
    expect((await system().cli('show', runId)).stdout).toContain('the disk was replaced at noon');
    expect(await system().cli('verify', runId)).toMatchObject({ code: 0 });
  });

  it('has a board: a person and a task write there, a write that saw something else is refused, a command takes what stands there', async () => {
    const gate = join(system().home, 'board-gate');
    const tasks = [
      exec('gate', untilFile(gate)),
      { ...exec('free', 'echo 120'), board: [{ name: 'free', field: 'stdout' }] },
      exec('use', 'cat', { stdin: { board: 'greeting' } }),
    ];
    const runId = await submit('boarded', tasks, 'success-only');
    expect(await system().cli('board', 'set', runId, 'greeting', 'hello; $(reboot)')).toMatchObject({ code: 0 });
    const late = await system().cli('board', 'set', runId, 'greeting', 'bye', '--revision', '0');
    expect(late).toMatchObject({ code: 3, stderr: expect.stringContaining('it is at revision 1 now') });
    await writeFile(gate, '');
    const view = await system().untilEnd(runId);
    expect(view).toMatchObject({ outcome: 'succeeded' });
    expect(view.tasks[2]?.result?.value).toMatchObject({ stdout: 'hello; $(reboot)' });
    const { entries } = await system().json<RunBoard>('board', runId);
    expect(entries.map(({ name, revision, value }) => [name, revision, value])).toEqual([
      ['free', 2, '120\n'],
      ['greeting', 1, 'hello; $(reboot)'],
    ]);
    expect((await system().cli('board', 'get', runId, 'free')).stdout).toContain('120');
    expect(await system().cli('board', 'set', runId, 'greeting', 'late')).toMatchObject({ code: 3 });
    expect(await system().cli('verify', runId)).toMatchObject({ code: 0 });
  });

  it('is told one more thing: a round opens while it lives, and after its end it goes on', async () => {
    const options = { editPolicy: 'when-needed', planner: 'external' };
    const runId = await submit('said', [exec('long', 'exec sleep 600')], 'success-only', options);
    const file = join(system().home, 'said.json');
    for (const [editId, text] of [
      ['e1', 'also look at db-2'],
      ['e2', 'and at db-3'],
    ] as const) {
      expect(await system().cli('say', runId, text)).toMatchObject({ code: 0 });
      await untilView(runId, ({ editing }) => editing?.editId === editId);
      await writeFile(file, JSON.stringify({ editId, state: 'FINISH' }));
      expect(await system().cli('propose', runId, '-f', file)).toMatchObject({ code: 0 });
      await untilView(runId, ({ endedAt }) => endedAt !== null);
    }
    expect(await system().eventsOf(runId, 'RUN_REOPENED')).toHaveLength(1);
    const { conversation = [] } = await system().json<RunView>('show', runId);
    const said = conversation.filter(({ kind }) => kind === 'words').map(({ text }) => text);
    expect(said).toEqual(['also look at db-2', 'and at db-3']);
    expect(await system().cli('verify', runId)).toMatchObject({ code: 0 });
  });

  it('is edited while it runs, by whoever answers its edit rounds', async () => {
    const runId = await submit('edited', [exec('a', 'exit 3')], 'unconditional', {
      editPolicy: 'when-needed',
      planner: 'external',
    });
    const asked = await untilView(runId, ({ editing }) => editing !== null);
    expect(asked).toMatchObject({ editing: { editId: 'e1' }, waitingFor: { reason: 'planner', wokenBy: 'proposal' } });
    const file = join(system().home, 'edits.json');
    await writeFile(file, JSON.stringify([{ tool: 'remove_task', taskId: 'a' }]));
    const hostile = await system().cli('propose', runId, '-f', file, '--edit-id', 'e1');
    expect(hostile).toMatchObject({ code: 3, stderr: expect.stringContaining('"a" is FAILED') });
    const diagnose = { ...exec('why', 'echo because'), description: '', tips: [] };
    await writeFile(
      file,
      JSON.stringify([
        { tool: 'add_task', task: diagnose },
        { tool: 'add_dependency', line: { id: 'a-why', from: 'a', to: 'why', type: 'unconditional' } },
      ]),
    );
    const answer = await system().json<VerbAnswer>('propose', runId, '-f', file, '--edit-id', 'e1', '--try', '2');
    expect(answer).toMatchObject({ answer: 'accepted' });
    await untilView(runId, ({ editing }) => editing?.editId === 'e2');
    await writeFile(file, JSON.stringify({ editId: 'e2', state: 'FINISH' }));
    expect(await system().cli('propose', runId, '-f', file)).toMatchObject({ code: 0 });
    expect(await system().untilEnd(runId)).toMatchObject({ outcome: 'partially_failed', revision: 2 });
    expect(await system().report(runId, 'adds task why', 'Parallelism')).toContain('adds task why');
  });

  it('goes to the device that an administrator says has what it asks for, and no device says otherwise', async () => {
    const { devices } = await system().json<{ devices: AgentProfile[] }>('devices');
    const other = devices.find(({ deviceId }) => deviceId !== 'web-1')?.deviceId ?? '';
    const enrolled = await system().cli(
      'devices',
      'enroll',
      '--id',
      other,
      '--set',
      'gpu.memory_gb=48',
      '--set',
      'cpu.count=4096',
    );
    expect(enrolled.code).toBe(0);
    expect(await system().cli('devices', 'set', 'web-1', 'gpu.memory_gb=16')).toMatchObject({ code: 0 });
    const big = 'profile.gpu.memory_gb >= 24 && profile.cpu.count > 4000';
    const runId = await submit('profiled', [{ ...exec('train', 'echo here'), target: { where: big } }]);
    expect(await system().untilEnd(runId)).toMatchObject({ outcome: 'succeeded', tasks: [{ device: other }] });
    await waitsUntilOneIsGivenIt();
    expect(await system().cli('restart', other)).toMatchObject({ code: 0 });
    const shown = await system().json<{ profile: ProfileEntry[] }>('devices', 'show', other);
    expect(shown.profile.find(({ key }) => key === 'cpu.count')).toMatchObject({
      value: 4_096,
      source: 'administrator',
      by: { kind: 'person', id: 'cli' },
      instead: [{ source: 'device' }],
    });
    const { console: url } = await system().endpoints();
    const headers = { authorization: `Bearer ${system().token}`, 'content-type': 'application/json' };
    const say = (body: string) => fetch(`${url}/v1/devices/${other}/profile`, { method: 'POST', headers, body });
    expect(await (await say('{"set": {"rack.row": 7}}')).json()).toMatchObject({ changed: true });
    for (const hostile of [
      '{"set": {"__proto__": {"os": "x"}}}',
      '{"set": {"rack.row": 1e999}}',
      '{"set": {"api_token": "x"}}',
    ])
      expect((await say(hostile)).status).toBe(400);
    const read = (await (await fetch(`${url}/v1/devices/${other}`, { headers })).json()) as { profile: ProfileEntry[] };
    expect(read.profile.find(({ key }) => key === 'rack.row')).toMatchObject({ value: 7, source: 'administrator' });
    const misspelt = await writeRequest(system().home, {
      requestId: 'misspelt',
      constellation: { name: 'x', tasks: [{ ...exec('a', 'true'), target: { where: 'profile.gpu.memroy_gb >= 24' } }] },
    });
    const refused = await system().cli('submit', '-f', misspelt);
    expect(refused).toMatchObject({
      code: 3,
      stderr: expect.stringMatching(/tasks\[0\]\.target\.where.*did you mean profile\.gpu\.memory_gb/su),
    });
  });

  /** No device has it: the run says at once how many have too little, and goes on with the one that is said to have it. */
  async function waitsUntilOneIsGivenIt(): Promise<void> {
    const task = { ...exec('render', 'echo here'), target: { where: 'profile.gpu.memory_gb >= 100' } };
    const runId = await submit('profiled-later', [task]);
    const { waitingFor } = await untilView(runId, (view) => view.waitingFor?.reason === 'device');
    const why = 'no device: 2 below 100';
    expect(waitingFor?.detail).toContain(why);
    expect((await system().cli('show', runId)).stdout).toContain(why);
    expect(await system().cli('devices', 'set', 'web-1', 'gpu.memory_gb=128')).toMatchObject({ code: 0 });
    expect(await system().untilEnd(runId)).toMatchObject({ outcome: 'succeeded', tasks: [{ device: 'web-1' }] });
  }

  it('goes over all devices one after the other, in one line that opens, and begins no other one after a failure', async () => {
    const [gate, flag] = [join(system().home, 'wave.gate'), join(system().home, 'wave.flag')];
    const sweep = {
      ...exec('sweep', `${untilFile(gate)}; test -e ${flag} && echo swept`),
      target: { os: 'linux' },
      forEach: { wave: 1 },
    };
    const collect = exec('collect', 'cat', { stdin: { from: ['sweep'] } });
    const runId = await submit('swept', [sweep, collect], 'success-only');
    const first = await untilView(runId, ({ tasks }) => tasks[0]?.fanOut?.running === 1);
    expect(first.tasks[0]).toMatchObject({
      status: 'RUNNING',
      fanOut: { devices: 2, wave: 1, waves: 2, notStarted: 1 },
    });
    expect((await system().cli('show', runId)).stdout).toContain('wave 1 of 2: 0 of 2 devices done, 1 running');
    await writeFile(gate, '');
    const stopped = await system().untilEnd(runId);
    expect(stopped.tasks[0]).toMatchObject({ status: 'FAILED', fanOut: { wave: 1, failed: 1, notStarted: 1 } });
    expect((await system().cli('show', runId)).stdout).toContain('TOO_MANY_FAILURES 1 of 2 devices failed, and 0 may');
    await writeFile(flag, '');
    expect(await system().cli('retry', runId, 'sweep', '--wait')).toMatchObject({ code: 0 });
    const ended = await system().show(runId);
    expect(ended.tasks[0]).toMatchObject({ status: 'COMPLETED', fanOut: { wave: 2, completed: 2, failed: 0 } });
    expect(ended.tasks.flatMap(({ part, attempts }) => (part === undefined ? [] : [attempts]))).toEqual([2, 1]);
    expect(ended.tasks.find(({ id }) => id === 'collect')?.result?.value).toMatchObject({ stdout: 'swept\nswept\n' });
    expect(await system().cli('verify', runId)).toMatchObject({ code: 0 });
  });

  it('stays what the log says: every run is verified, and Postgres shows the same', async () => {
    expect(await system().cli('verify', '--all')).toMatchObject({ code: 0 });
    expect(submitted.length).toBeGreaterThanOrEqual(7);
    const views = await Promise.all(submitted.map((each) => system().show(each)));
    const wanted = views.map(({ runId, sequence, status }) => ({ runId, sequence, status }));
    const listed = await until('the projections', async () => {
      const { runs } = await system().json<{ runs: typeof wanted }>('runs');
      const found = wanted.flatMap(({ runId, sequence }) =>
        runs.filter((run) => run.runId === runId && run.sequence === sequence),
      );
      return found.length === wanted.length ? found : undefined;
    });
    expect(listed).toMatchObject(wanted);
  });

  async function submit(
    requestId: string,
    tasks: readonly object[],
    type = 'unconditional',
    options: object = {},
  ): Promise<string> {
    const ids = tasks.map((task) => ('id' in task ? String(task.id) : ''));
    const lines = ids.slice(1).map((to, index) => ({ id: `l${index}`, from: ids[index], to, type }));
    const file = await writeRequest(system().home, {
      requestId,
      constellation: { name: requestId, tasks, lines },
      options,
    });
    const { runId } = await system().json<{ runId: string }>('submit', '-f', file);
    submitted.push(runId);
    return runId;
  }

  function untilView(runId: string, holds: (view: RunView) => boolean): Promise<RunView> {
    return until(`the state of ${runId}`, async () => {
      const view = await system().show(runId);
      return holds(view) ? view : undefined;
    });
  }
}

function exec(id: string, command: string, more: object = {}) {
  return {
    id,
    name: id,
    target: { device: 'web-1' },
    command: { tool: 'EXEC_CLI', arguments: { command, timeout: 600, ...more } },
  };
}

function untilFile(path: string): string {
  return `while [ ! -e ${path} ]; do sleep 0.05; done`;
}

async function readText(path: string): Promise<string | undefined> {
  try {
    const text = await readFile(path, 'utf8');
    return text === '' ? undefined : text;
  } catch {
    return undefined;
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
