// A device client with a desktop: ./orrery test desktop
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { AttemptKey, CommandOutcome, Json } from '#proto';
import {
  ATTEMPT,
  startScriptedServer,
  type ScriptedServer,
} from '../../services/device-client/testing/scripted-server.js';
import { until } from '../../services/device-client/testing/until.js';
import { DesktopRig, whyNoDesktop, type Shown, type ShownList } from './rig.js';

const reason = await whyNoDesktop();

type Registered = Awaited<ReturnType<ScriptedServer['registered']>>;

/** Its tools, each with whether it only looks. */
const toolsOf = ({ register }: Registered): ReadonlyMap<string, boolean> =>
  new Map(register.metadata?.orrery?.telemetry?.tools.map(({ name, readOnly }) => [name, readOnly]) ?? []);

(reason === undefined ? describe : describe.skip)('a device with a desktop', () => {
  let rig: DesktopRig;
  let server: ScriptedServer;
  let registered: Registered;
  let commands = 0;
  let client: ChildProcess;

  async function joins(): Promise<void> {
    client = await rig.device(server.url);
    // Its tools may join later, on a busy machine: then it registers again.
    do registered = await server.registered();
    while (!toolsOf(registered).has('click_input'));
  }

  beforeAll(async () => {
    rig = await DesktopRig.start();
    server = await startScriptedServer();
    await joins();
    rig.start('mousepad', [await rig.write('notes.txt', '')]);
  });
  afterAll(async () => {
    await server?.stop();
    await rig?.end();
  });

  const outcomeOf = (id: string, tool: string, parameters: Json, attempt?: AttemptKey): Promise<CommandOutcome> => {
    registered.connection.command(id, tool, parameters, { ...(attempt && { attempt }) });
    return registered.connection.outcome(id);
  };
  const asks = async <T>(tool: string, parameters: Json = {}): Promise<T> => {
    const { result } = await outcomeOf(`c${++commands}`, tool, parameters);
    return result as T;
  };

  it('says that it has the tools, and which of them only look', () => {
    const readOnly = toolsOf(registered);
    expect(readOnly.get('get_app_window_controls_target_info')).toBe(true);
    expect(readOnly.get('capture_window_screenshot')).toBe(true);
    expect(readOnly.get('click_input')).toBe(false);
    expect(readOnly.get('set_edit_text')).toBe(false);
    expect(readOnly.get('EXEC_CLI')).toBe(false);
  });

  it('carries an action out once, however often its command comes', async () => {
    const window = await until(async () => (await asks<ShownList>('get_desktop_app_target_info')).result[0]);
    await asks('select_application_window', { id: window.id, name: window.name });
    const edit = await until(async () => {
      const { result } = await asks<ShownList>('get_app_window_controls_target_info');
      return result.find(({ type }: Shown) => type === 'Edit');
    });
    const typed = { id: edit.id, name: edit.name, keys: 'once' };
    const first = await outcomeOf('typed', 'keyboard_input', typed);
    expect(first).toMatchObject({ state: 'COMPLETED', result: { result: expect.stringContaining('4 keys') } });
    expect(await outcomeOf('typed', 'keyboard_input', typed)).toEqual(first);
    expect(await asks('texts', { id: edit.id, name: edit.name })).toEqual({ result: 'once' });
  });

  it('answers with pictures as files, and with codes where it does nothing', async () => {
    const picture = await outcomeOf('picture', 'capture_window_screenshot', {});
    expect(picture).toMatchObject({
      state: 'COMPLETED',
      result: { pictures: [{ of: 'window' }] },
      files: [{ name: 'window.png', mediaType: 'image/png' }],
    });
    const refused = await outcomeOf('refused', 'click_input', { id: '1', name: 'Nobody' });
    expect(refused).toMatchObject({ state: 'FAILED', error: { message: expect.stringMatching(/^MISMATCH: /u) } });
  });

  it('keeps its screen for the attempt that acts there, also when it is killed, and forgets no later one', async () => {
    const [later, other] = [
      { ...ATTEMPT, attempt: ATTEMPT.attempt + 1 },
      { ...ATTEMPT, taskId: 'another' },
    ];
    const presses = (id: string, attempt: AttemptKey): Promise<CommandOutcome> =>
      outcomeOf(id, 'keyboard_input', { keys: 'x', control_focus: false }, attempt);
    const busy = { state: 'FAILED', error: { code: 'SCREEN_BUSY' } };
    // It has acted before this; its next one only looks.
    expect(await presses('p1', other)).toMatchObject(busy);
    expect(await outcomeOf('looks', 'get_desktop_app_target_info', {}, later)).toMatchObject({ state: 'COMPLETED' });
    const gone = once(client, 'exit');
    client.kill('SIGKILL');
    await gone;
    await joins();
    expect(await presses('p2', ATTEMPT)).toMatchObject({
      state: 'FAILED',
      error: { code: 'SCREEN_BUSY', message: expect.stringContaining(`attempt ${later.attempt} of the task`) },
    });
    expect(await presses('p3', other)).toMatchObject(busy);
    // Its end is told: the next one has it, and begins by looking.
    registered.connection.stop(ATTEMPT);
    expect(await presses('p4', other)).toMatchObject({
      state: 'FAILED',
      error: { message: expect.stringMatching(/^NO_WINDOW: /u) },
    });
  });
});
