import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ConstellationEndpoint } from '#libs/aip';
import { openAttemptLog } from '#libs/event-log';
import type { ApprovalView, RunView, TaskStar } from '#proto';
import { KEY, type StoryModel } from './agent-model.js';
import { CANARY, HOSTILE, STORIES, THOUGHT } from './agent-stories.js';
import { ASSISTANT_STORIES, testsOfAssistant } from './assistant.js';
import { PHONE_STORY, PhoneDevice, SCREENS } from './phone.js';
import { CLI, ROOT, type TestSystem, until } from './system.js';

/* Real processes, real commands on this machine, a scripted model: what an agent does from a request to its report. */

let model: StoryModel;
let system: TestSystem;
let jail: string;
let mobile: PhoneDevice;

/** Lays into a home what agents need there, and gives the settings. */
export async function prepareForAgents(home: string): Promise<NodeJS.ProcessEnv> {
  const secrets = join(home, 'devices', 'web-1', 'secrets');
  await mkdir(secrets, { recursive: true, mode: 0o700 });
  await writeFile(join(secrets, 'api-token'), `${CANARY}\n`, { mode: 0o600 });
  const lib = pathToFileURL(join(ROOT, 'dist/libs/device-agent/index.js')).href;
  await writeFile(
    join(home, 'desktop.mjs'),
    `import { AppAgentPrompter, HostAgentPrompter, testing } from ${JSON.stringify(lib)};
     export const agents = (options) =>
       [testing.desktopAgent({ host: new HostAgentPrompter(options), app: new AppAgentPrompter(options) })];`,
  );
  const files = { model: join(home, 'model.yaml'), policy: join(home, 'policy.yaml') };
  await writeFile(files.model, 'agents: { MobileAgent: { seesPictures: true } }\n');
  await writeFile(files.policy, 'version: 1\ndevices: [{ match: { ids: [phone-1] }, pictures: { keep: none } }]\n');
  return {
    ORRERY_AGENT_MODULES: join(home, 'desktop.mjs'),
    ORRERY_MODEL_FILE: files.model,
    ORRERY_POLICY_FILE: files.policy,
  };
}

/** What lies on the device before the first command of an agent, and nothing else. */
async function layJail(): Promise<void> {
  jail = join(system.home, 'devices', 'web-1', 'jail');
  for (const name of await readdir(jail)) await rm(join(jail, name), { recursive: true });
  for (const directory of ['old', 'old2', 'keep2', 'precious', 'patient']) await mkdir(join(jail, directory));
  await writeFile(join(jail, 'settings.ini.sample'), 'port=8443\n');
  await writeFile(join(jail, 'hostile.txt'), HOSTILE);
  // Whoever reads it waits for somebody who writes.
  execFileSync('mkfifo', ['-m', '666', join(jail, 'go-crash')]);
}

/** In a system with the devices web-1 and db-1 that was prepared for this, and whose model was told no story so far. */
export function testsOfAgents(given: () => { readonly system: TestSystem; readonly model: StoryModel }): void {
  beforeAll(async () => {
    ({ system, model } = given());
    model.add({ ...STORIES, ...ASSISTANT_STORIES, phone: PHONE_STORY });
    await layJail();
    // Long before its task: the service that plays the agents follows the registry, and comes by this some time later.
    expect((await system.cli('devices', 'enroll', '--id', 'db-1', '--agent', 'SampleAgent')).code).toBe(0);
    mobile = await PhoneDevice.join(system, 'phone-1');
  });
  afterAll(() => mobile?.stop());

  describe('beside people and agents', () => testsOfAssistant(() => ({ system, model })));

  it('no process of the system has a secret in its environment or its arguments', async () => {
    const { pid, parts } = await system.json<{ pid: number; parts: { name: string; pid: number }[] }>('status');
    const processes = await descendantsOf(pid);
    // The processes of PostgreSQL, and those in which devices run tools, are parts of nothing.
    for (const part of parts) expect(processes).toContain(part.pid);
    expect(processes.length).toBeGreaterThan(parts.length + 4);
    const secrets = [KEY, system.token, CANARY, ...(await secretsIn(system.home))];
    expect(secrets.length).toBeGreaterThan(15);
    for (const secret of secrets) expect(secret).toMatch(/^.{16}/u);
    for (const process of processes) {
      const files = ['environ', 'cmdline'].map((name) =>
        readFile(`/proc/${process}/${name}`, 'latin1').catch(() => ''),
      );
      const text = (await Promise.all(files)).join('\0');
      const shown = secrets.filter((secret) => text.includes(secret));
      expect([text.split('\0').slice(-8), shown]).toEqual([expect.anything(), []]);
    }
  });

  /** A process and all that it has started, and those have. */
  async function descendantsOf(root: number): Promise<number[]> {
    const all = (await readdir('/proc')).filter((name) => /^\d+$/u.test(name));
    const parents = new Map<number, number>();
    for (const id of all) {
      const stat = await readFile(`/proc/${id}/stat`, 'latin1').catch(() => '');
      parents.set(Number(id), Number(/.*\) \S (\d+)/su.exec(stat)?.[1]));
    }
    const found = new Set([root]);
    for (const one of found) for (const [id, parent] of parents) if (parent === one) found.add(id);
    return [...found];
  }

  /** Every word in the files of keys, and in those of devices, that nobody else may read. */
  async function secretsIn(home: string): Promise<string[]> {
    const files = await readdir(join(home, 'keys'), { recursive: true, withFileTypes: true });
    const ofDevices = await readdir(join(home, 'devices'), { recursive: true, withFileTypes: true });
    const secret = [...files, ...ofDevices].filter(
      (file) => file.isFile() && !/\.(?:sha256|json|journal)$|^closed$/u.test(file.name),
    );
    const texts = await Promise.all(secret.map((file) => readFile(join(file.parentPath, file.name), 'utf8')));
    return texts.flatMap((text) => text.split(/\s+/u)).filter((word) => word.length > 15);
  }

  it('a judged command runs behind a wall, as a user that no process of the system has', async () => {
    const command = 'id -u; grep NoNewPrivs /proc/self/status';
    const options = { judge: 'all' };
    const { tasks } = await told('walled', { command: { tool: 'EXEC_CLI', arguments: { command } }, options });
    const { stdout = '' } = { ...(tasks[0]?.result?.value as { stdout: string } | undefined) };
    expect(stdout).toMatch(/NoNewPrivs:\s*1/u);
    // One that has only just come in has not said it yet.
    const walls = await until('what every device says of its wall', async () => {
      const { devices } = await system.json<{ devices: { status: string; wall?: { kind: string } }[] }>('devices');
      const there = devices.filter(({ status }) => status === 'connected');
      const said = there.flatMap(({ wall }) => wall ?? []);
      return said.length === there.length ? said.map(({ kind }) => kind) : undefined;
    });
    expect(walls).not.toContain('none');

    const { parts } = await system.json<{ parts: { name: string; pid: number }[] }>('status');
    const users = await Promise.all(
      parts.map(async ({ pid }) => /^Uid:\s*(\d+)/mu.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1]),
    );
    if (process.geteuid?.() === 0) expect([...new Set(users), '65534']).not.toContain(stdout.split('\n')[0]);
  });

  type Task = Partial<TaskStar> & { readonly options?: object };

  /** Sends a run of one task in words; its id. */
  async function send(story: string, { options = {}, ...task }: Task = {}): Promise<string> {
    const star = {
      id: story,
      name: story,
      description: `Please do story-${story}.`,
      target: { device: 'web-1' },
      ...task,
    };
    const request = { requestId: `agents-${story}`, constellation: { name: story, tasks: [star] }, options };
    const file = join(system.home, `${story}.json`);
    await writeFile(file, JSON.stringify(request));
    return (await system.json<{ runId: string }>('submit', '-f', file)).runId;
  }

  async function told(story: string, task: Task = {}): Promise<RunView> {
    return system.untilEnd(await send(story, task));
  }

  const taskOf = ({ tasks }: RunView) => tasks[0];

  /** As the list of a person has it; that is asked when there is one, because each look is a process. */
  async function openApproval(runId: string): Promise<ApprovalView> {
    await until(`a question in ${runId}`, async () => (await system.show(runId)).approvals[0]);
    return until(`an approval in ${runId}`, async () => {
      const { approvals } = await system.json<{ approvals: ApprovalView[] }>('approvals');
      return approvals.find((approval) => approval.runId === runId);
    });
  }

  interface Step {
    readonly type: string;
    readonly data: Record<string, never>;
  }
  async function stepsOf(runId: string): Promise<Step[]> {
    const { attempts } = await system.json<{ attempts: { events: Step[] }[] }>('steps', runId);
    return attempts.flatMap(({ events }) => events);
  }

  describe('an agent', () => {
    it('looks before it speaks, in several steps, and what it says is the result', async () => {
      const verify = {
        command: { tool: 'EXEC_CLI', arguments: { command: 'df -P /' } },
        condition: 'result.exit_code == 0',
      };
      const view = await told('disk', { verify });
      expect(view).toMatchObject({ status: 'COMPLETED', outcome: 'succeeded' });
      expect(taskOf(view)?.result?.value).toBe('The root disk has room.');
      expect(view.used).toMatchObject({ llmCalls: 3, commands: 3 });
      const types = (await stepsOf(view.runId)).map(({ type }) => type);
      const called = ['STEP_PLANNED', 'COMMAND_JUDGED', 'COMMAND_ISSUED', 'COMMAND_FINISHED'];
      expect(types).toEqual([
        ...called,
        ...called,
        'STEP_PLANNED',
        'COMMAND_JUDGED',
        'COMMAND_ISSUED',
        'COMMAND_FINISHED',
        'POSTCONDITION_CHECKED',
        'ATTEMPT_FINISHED',
      ]);
      const report = await system.report(view.runId, '<summary>Step 3');
      for (const text of [
        'It answered:\n\n```text\nThe root disk has room.',
        'It thought:',
        '| Policy | allow: class read',
      ]) {
        expect(report).toContain(text);
      }
    });

    it('recovers from a command that fails', async () => {
      const view = await told('recover');
      expect([view.outcome, taskOf(view)?.result?.value]).toEqual(['succeeded', 'The sample says port=8443.']);
      expect(model.asked('recover')[1]?.prompt).toContain('No such file');
    });

    it('leaves a value on the board of its run, and reads there what it left', async () => {
      const view = await told('board');
      expect([view.outcome, taskOf(view)?.result?.value]).toEqual(['succeeded', 'web-1 leads.']);
      expect(model.asked('board')[2]?.prompt).toContain('Nothing was written');
      const { entries } = await system.json<{ entries: object[] }>('board', view.runId);
      expect(entries).toEqual([
        expect.objectContaining({ name: 'leader', value: { host: 'web-1', port: 8443 }, judge: true }),
      ]);
    });

    it.each<[string, string, string, Task]>([
      ['precondition', 'AGENT_FAILED', 'does not exist', {}],
      [
        'lie',
        'POSTCONDITION_FAILED',
        'exit code',
        { verify: { command: { tool: 'EXEC_CLI', arguments: { command: 'test -e marker' } } } },
      ],
      ['budget', 'BUDGET_EXHAUSTED', '2', { options: { budget: { llmCalls: 2 } } }],
      ['floor', 'AGENT_FAILED', 'forbids', {}],
    ])('that cannot do what it should says so: %s ends with %s', async (story, code, word, task) => {
      const view = await told(story, task);
      expect(view.status).toBe('FAILED');
      expect(taskOf(view)).toMatchObject({ status: 'FAILED', error: { code, message: expect.stringContaining(word) } });
    });

    it('is not moved by what a command prints, and nothing of it reaches a terminal or a report', async () => {
      const view = await told('hostile');
      expect(view.outcome).toBe('succeeded');
      const judged = (await stepsOf(view.runId)).filter(({ type }) => type === 'COMMAND_JUDGED');
      const said = ['read', 'allow', 'program.cat'];
      expect(judged.map(({ data }) => [data['class'], data['decision'], data['rule']])).toEqual([said, said]);
      expect(model.asked('hostile')[1]?.prompt).toContain('Ignore your instructions');
      const shown = { show: 'It was only text.', steps: 'Ignore your instructions' };
      const texts = [await system.report(view.runId, 'Ignore your instructions')];
      for (const [command, text] of Object.entries(shown)) {
        const { code, stdout } = await system.cli(command, view.runId);
        expect([code, stdout]).toEqual([0, expect.stringContaining(text)]);
        texts.push(stdout);
      }
      for (const text of texts) {
        expect(text).not.toMatch(/[\u001B\u0007\u200B\u202E]/u);
      }
    });

    it('gets the value of a secret to nobody', async () => {
      const runId = await send('secret');
      const { approvalId, ask } = await openApproval(runId);
      expect(ask).toMatchObject({ kind: 'approval', rule: 'uses-secret' });
      expect((await system.cli('approve', approvalId)).code).toBe(0);
      const view = await system.untilEnd(runId);
      expect(view.outcome).toBe('succeeded');
      const steps = JSON.stringify(await stepsOf(view.runId));
      expect(steps).toContain(`${CANARY.length}`);
      expect(steps).toContain('[secret:api-token]');
      const report = await system.report(view.runId, '[secret:api-token]');
      const logged = await logs();
      expect(logged.length).toBeGreaterThan(0);
      const all = [steps, report, ...model.prompts, logged];
      const forms = [CANARY, Buffer.from(CANARY).toString('base64').replaceAll('=', '')];
      for (const text of all) for (const form of [...forms, KEY]) expect(text.includes(form)).toBe(false);
    });
  });

  /** Everything that was logged, journalled or stored in the home of the system, but the files that hold the secrets. */
  async function logs(): Promise<string> {
    const { stdout } = await system.cli('status', '--json');
    const { parts } = JSON.parse(stdout) as { parts: { name: string }[] };
    const texts = parts.map(({ name }) => readFile(join(system.home, 'logs', `${name}.log`), 'utf8').catch(() => ''));
    return (await Promise.all(texts)).join('\n');
  }

  describe('a person', () => {
    it('lets a command run, and it runs once', async () => {
      const runId = await send('approve');
      const { approvalId, ask } = await openApproval(runId);
      expect(ask).toMatchObject({
        kind: 'approval',
        class: 'destructive',
        command: { arguments: { command: 'rm -r old' } },
      });
      expect(await system.show(runId)).toMatchObject({ waitingFor: { reason: 'approval' } });
      expect((await system.cli('approve', approvalId)).code).toBe(0);
      expect((await system.untilEnd(runId)).outcome).toBe('succeeded');
      expect((await system.cli('approve', approvalId)).code).toBe(0); // there is nothing left to do
    });

    it('changes a command before it runs', async () => {
      const runId = await send('edit');
      const { approvalId } = await openApproval(runId);
      expect((await system.cli('approve', approvalId, '--command', 'rmdir old2')).code).toBe(0);
      expect((await system.untilEnd(runId)).outcome).toBe('succeeded');
      const issued = (await stepsOf(runId)).find(({ type }) => type === 'COMMAND_ISSUED');
      expect(JSON.stringify(issued)).toContain('rmdir old2');
      await expect(readFile(join(jail, 'keep2'))).rejects.toMatchObject({ code: 'EISDIR' });
    });

    it('says no, and the agent goes without', async () => {
      const runId = await send('refuse');
      const { approvalId } = await openApproval(runId);
      expect((await system.cli('reject', approvalId, '--note', 'it is precious')).code).toBe(0);
      const view = await system.untilEnd(runId);
      expect(taskOf(view)).toMatchObject({ error: { code: 'AGENT_FAILED' } });
      expect(model.asked('refuse')[1]?.prompt).toContain('it is precious');
      await expect(readFile(join(jail, 'precious'))).rejects.toMatchObject({ code: 'EISDIR' });
    });

    it('cancels in the middle of a long command', async () => {
      const runId = await send('cancel');
      await until('the command', async () => {
        const stored = await openAttemptLog(await system.bus()).load({ runId, taskId: 'cancel', attempt: 1 });
        return stored.some(({ commit }) => commit.events.some(({ type }) => type === 'COMMAND_ISSUED')) || undefined;
      });
      expect((await system.cli('cancel', runId)).code).toBe(0);
      const view = await system.untilEnd(runId);
      expect(view.status).toBe('CANCELLED');
      expect(model.asked('cancel')).toHaveLength(1);
    });
  });

  it('what an agent thinks and what its commands write is seen while it happens', async () => {
    const runId = await send('live');
    // A loop is no plain line.
    const { approvalId, ask } = await openApproval(runId);
    expect(ask).toMatchObject({ kind: 'approval', class: 'read', rule: 'not-plain' });
    expect((await system.cli('approve', approvalId)).code).toBe(0);
    const env = { ...process.env, ...system.env, ORRERY_ROOT: ROOT };
    const watcher = spawn(process.execPath, [CLI, 'output', runId, '--json'], {
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = once(watcher, 'close');
    const chunks: { stream: string; text: string }[] = [];
    for await (const line of createInterface({ input: watcher.stdout })) {
      const chunk = JSON.parse(line) as { stream: string; text: string };
      chunks.push(chunk);
      if (chunk.stream === 'stdout') await writeFile(join(jail, 'go-live'), '');
    }
    expect(await ended).toEqual([0, null]);
    const textOf = (stream: string): string =>
      chunks.flatMap((chunk) => (chunk.stream === stream ? [chunk.text] : [])).join('');
    expect(textOf('stdout')).toContain('tick');
    // Whoever listens early hears what was thought before the command, too.
    expect(textOf('thought')).toMatch(new RegExp(`^(?:next)?${THOUGHT}$`, 'u'));
  });

  describe('a process that dies', () => {
    it('in the middle of a command costs nothing: it runs once, and no reply is asked for again', async () => {
      const runId = await send('crash');
      await until('the command', async () => ((await effects('crash')) === '' ? undefined : true));
      await system.kill9('device-agent');
      await writeFile(join(jail, 'go-crash'), '');
      const view = await system.untilEnd(runId);
      expect([view.outcome, taskOf(view)?.result?.value]).toEqual(['succeeded', 'It was done.']);
      expect([await effects('crash'), model.asked('crash').length]).toEqual(['once\n', 3]);
    });

    it('while somebody thinks about an approval loses neither the question nor the answer', async () => {
      const runId = await send('patient');
      const { approvalId } = await openApproval(runId);
      for (const part of ['device-agent', 'orchestrator']) await system.kill9(part);
      const { code } = await system.cli('approve', approvalId);
      expect(code).toBe(0);
      const view = await system.untilEnd(runId);
      expect([view.outcome, taskOf(view)?.result?.value]).toEqual(['succeeded', 'It is gone.']);
      expect(model.asked('patient')).toHaveLength(3);
      expect(view.approvals.map(({ state }) => state)).toEqual(['approved']);
    });
  });

  const effects = (story: string): Promise<string> => readFile(join(jail, `effects-${story}`), 'utf8').catch(() => '');

  it('a client of another system has a task in words done', async () => {
    const { aip: url } = await system.endpoints();
    const { token } = await system.json<{ token: string }>('clients', 'enroll', '--id', 'galaxy', '--devices', 'web-1');
    const endpoint = await ConstellationEndpoint.connect({
      url,
      credential: async () => token,
      credentialIn: 'query',
      clientId: 'trip@web-1',
      targetId: 'web-1',
      clock: { now: () => Date.now() },
    });
    const request =
      'Task Description: story-foreign, say your name\nTips for Completion:\n - Expected textual result: one sentence';
    const end = await endpoint.task({ sessionId: 'trip@t1', name: 'galaxy/trip/t1', request });
    await endpoint.close();
    expect(end).toMatchObject({
      status: 'completed',
      error: null,
      result: [{ request, result: 'The name is known.' }],
    });
  });

  it('a HostAgent gives two subtasks to an AppAgent and has control back after each', async () => {
    const place = join(system.home, 'devices', 'db-1', 'jail');
    await mkdir(place, { recursive: true });
    await writeFile(join(place, 'settings.ini.sample'), 'port=8443\n');
    const view = await told('desktop', { target: { device: 'db-1' } });
    expect([view.outcome, taskOf(view)?.result?.value]).toEqual(['succeeded', 'The port is written down.']);
    const planned = (await stepsOf(view.runId)).filter(({ type }) => type === 'STEP_PLANNED');
    const [host, app] = ['HostAgent', 'AppAgent'];
    expect(planned.map(({ data }) => data['agent'])).toEqual([host, app, app, host, app, app, host]);
    expect(await readFile(join(place, 'port.txt'), 'utf8')).toBe('8443\n');
  });

  it('a MobileAgent uses a phone, looks before each turn, and has what it does approved', async () => {
    const { phone } = mobile;
    const runId = await send('phone', { target: { device: 'phone-1' } });
    for (const [tool, next] of [
      ['launch_app', SCREENS[1]],
      ['click_control', SCREENS[2]],
    ] as const) {
      const { approvalId, ask } = await until(`a question about ${tool}`, async () => {
        const { approvals } = await system.json<{ approvals: ApprovalView[] }>('approvals');
        return approvals.find(
          (one) => one.runId === runId && one.ask.kind === 'approval' && one.ask.rule === `phone.${tool}`,
        );
      });
      expect(await phone.calls()).toEqual(tool === 'launch_app' ? [] : [LAUNCHED]);
      // A control is shown to the person as the agent has seen it.
      expect('picture' in ask).toBe(tool === 'click_control');
      await phone.put('next.xml', next);
      expect((await system.cli('approve', approvalId)).code).toBe(0);
    }
    const view = await system.untilEnd(runId);
    expect([view.outcome, taskOf(view)?.result?.value]).toEqual(['succeeded', 'It is saved.']);
    expect(await phone.calls()).toEqual([['input', 'tap', '920', '130']]);
    const judged = (await stepsOf(runId)).filter(({ type }) => type === 'COMMAND_JUDGED');
    expect(judged.map(({ data: { rule, decision } }) => [rule, decision])).toEqual([
      ['phone.get_mobile_app_target_info', 'allow'],
      LOOK,
      PICTURE,
      ['phone.launch_app', 'approve'],
      LOOK,
      PICTURE,
      ['phone.click_control', 'approve'],
      LOOK,
      PICTURE,
    ]);
    // Its policy keeps no picture of this phone longer than the run, which steps and report tell.
    const steps = await until('what is said of pictures that are dropped', async () => {
      const { stdout } = await system.cli('steps', runId);
      return stdout.includes('because the policy says pictures: { keep: none }') ? stdout : undefined;
    });
    expect(steps).toMatch(/file screen\.png: .*, dropped since\n.*file marked\.png: .*, dropped since/u);
    expect(await system.report(runId, 'pictures: { keep: none }')).toContain('marked.png');
  });
  const LAUNCHED = ['monkey', '-p', 'com.example.notes', '-c', 'android.intent.category.LAUNCHER', '1'];
  const LOOK = ['phone.get_app_window_controls_target_info', 'allow'];
  const PICTURE = ['phone.capture_screenshot', 'allow'];

  it('an agent that never comes to an end is stopped by its steps', async () => {
    expect(taskOf(await told('endless'))).toMatchObject({
      status: 'FAILED',
      // It repeats itself, which is noticed long before its steps are used up.
      error: { code: 'AGENT_FAILED', message: expect.stringContaining('same') },
    });
  });

  it('everything that was recorded can be verified', async () => {
    const { code, stdout } = await system.cli('verify', '--all', '--json');
    expect([code, stdout]).toEqual([0, expect.stringContaining('"ok":true')]);
  });
}
