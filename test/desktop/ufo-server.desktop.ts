// Our device client at a desktop, in front of UFO's own server as it was recorded: ./orrery test desktop
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { ClientMessage, fieldsOf, type ActionResult, type Json } from '#proto';
import {
  startScriptedServer,
  type ScriptedConnection,
  type ScriptedServer,
} from '../../services/device-client/testing/scripted-server.js';
import { deviceConnections, type TraceLine } from '../../services/device-client/testing/ufo-trace.js';
import { until } from '../../services/device-client/testing/until.js';
import { DesktopRig, whyNoDesktop, type Shown } from './rig.js';

/*
 * UFO's server says what it said then, frame by frame, and our tools do it to a real program; what we answer has to be of the shape that
 * the recorded client answered in. One thing is put in anew: the id of the field, which is of our listing.
 */

const reason = await whyNoDesktop();
const DEVICE = 'win1';
const TITLE = 'Untitled 1 - Mousepad';
/** What the recorded client said of a window beside what ours says: UFO's agents read none of it. */
const NOT_SAID: ReadonlySet<string> = new Set(['source', 'process_name', 'text_content']);

(reason === undefined ? describe : describe.skip)('UFO’s recorded server, with a device of ours', () => {
  let rig: DesktopRig;
  let server: ScriptedServer;
  let connection: ScriptedConnection;
  let platform = '';

  beforeAll(async () => {
    rig = await DesktopRig.start();
    server = await startScriptedServer();
    await rig.device(server.url, { foreignAs: DEVICE });
    // Its tools may join later, on a busy machine: then it registers again.
    for (let names: readonly string[] = []; !names.includes('click_input');) {
      connection = await server.connection();
      const { metadata } = await connection.next('register');
      names = metadata?.orrery?.telemetry?.tools.map(({ name }) => name) ?? [];
      platform = String(metadata?.platform);
    }
    connection.send({ type: 'heartbeat', status: 'ok', response_id: 'r0' });
  });
  afterAll(async () => {
    await server?.stop();
    await rig?.end();
  });

  /** One action, as such a server asks for it. */
  async function asked(tool: string, parameters: Json): Promise<ActionResult | undefined> {
    const action = { tool_name: tool, parameters, tool_type: 'action', call_id: 'a' };
    connection.send({ type: 'command', status: 'continue', response_id: 'mine', session_id: 's', actions: [action] });
    return (await connection.next('command_results')).action_results?.[0];
  }

  beforeEach(async () => {
    for (const pid of await rig.processes('mousepad')) process.kill(pid, 'SIGKILL');
    const titles = async () => {
      const told = (await asked('get_desktop_app_target_info', { remove_empty: true }))?.result;
      return (told as unknown as Shown[]).map(({ name }) => name);
    };
    await until(async () => ((await titles()).length === 0 ? true : undefined));
    rig.start('mousepad', ['--disable-server']);
    await until(async () => ((await titles())[0] === TITLE ? true : undefined));
  });

  /** Says what the server said, and compares our answers; what came of the last listing. */
  async function replayed(trace: string): Promise<readonly Shown[]> {
    let listed: readonly Shown[] = [];
    let tool = '';
    for (const { dir, msg } of deviceConnections(trace, DEVICE).flat()) {
      if (msg === undefined || msg['type'] === 'register') continue;
      if (dir === 's2c') {
        tool = toolOf(msg);
        connection.send(forListing(msg, listed));
        continue;
      }
      const recorded = ClientMessage.parse(msg);
      const ours = await connection.next(recorded.type);
      expect(ours).toMatchObject({ status: recorded.status, client_id: DEVICE });
      if (ours.type === 'task') expect(ours.metadata).toEqual({ platform: 'windows' });
      if (ours.type !== 'command_results' || recorded.type !== 'command_results') continue;
      const { session_id, prev_response_id, action_results: results } = recorded;
      expect(ours).toMatchObject({ session_id, prev_response_id });
      expect(ours.action_results).toHaveLength(results?.length ?? 0);
      for (const [at, result] of (results ?? []).entries()) hasItsShape(ours.action_results?.[at], result);
      const [first] = ours.action_results ?? [];
      if (tool === 'get_app_window_controls_target_info') listed = first?.result as unknown as Shown[];
      if (tool === 'get_app_window_info')
        expect(fieldsOf(first?.result ?? null)['control_text']).toBe(
          fieldsOf(results?.[0]?.result ?? null)['control_text'],
        );
    }
    return listed;
  }

  it('is registered with as a machine with a screen', () => {
    expect(platform).toBe('windows');
    expect(connection.request.url).toContain('?token=');
  });

  it('has host and app work to the end, and the text is in the window', async () => {
    const listed = await replayed('windows-session');
    expect(listed.find(({ type }) => type === 'Edit')?.value).toBe('hello from UFO');
  });

  it('has a session that fails, and asks nothing that is not answered', async () => {
    await replayed('windows-session-fail');
    const controls = await asked('get_app_window_controls_target_info', { field_list: [] });
    expect(controls).toMatchObject({ status: 'success' });
    expect(connection.waiting().filter(({ type }) => type !== 'heartbeat')).toEqual([]);
  });

  it('is told of an id that is of something else, and nothing is clicked', async () => {
    const told = await asked('select_application_window', { id: '1', name: 'another window' });
    expect(told).toMatchObject({ status: 'failure', result: null, error: expect.stringMatching(/^MISMATCH: /u) });
  });
});

const textOf = (value: Json | undefined): string => (typeof value === 'string' ? value : '');
const actionsOf = (msg: NonNullable<TraceLine['msg']>): readonly Json[] =>
  Array.isArray(msg['actions']) ? msg['actions'] : [];
const toolOf = (msg: NonNullable<TraceLine['msg']>): string => textOf(fieldsOf(actionsOf(msg)[0] ?? null)['tool_name']);

/** The field is the only one of its type; its id is of the newest listing. */
function forListing(msg: NonNullable<TraceLine['msg']>, listed: readonly Shown[]): Json {
  if (toolOf(msg) !== 'set_edit_text') return msg;
  const field = listed.find(({ type }) => type === 'Edit');
  const actions = actionsOf(msg).map((action) => {
    const { parameters, ...more } = fieldsOf(action);
    return { ...more, parameters: { ...fieldsOf(parameters ?? null), id: field?.id ?? '', name: field?.name ?? '' } };
  });
  return { ...msg, actions };
}

/** Of the same kind, with all that was said then; more is let through, as UFO's agents do. */
function hasItsShape(ours: ActionResult | undefined, recorded: ActionResult): void {
  const { status, call_id, error = null } = recorded;
  expect(ours).toMatchObject({ status, call_id, error });
  const [told, then] = [ours?.result ?? null, recorded.result ?? null];
  if (typeof then === 'string' && then.startsWith('data:image/')) return isPicture(told);
  if (!Array.isArray(then)) return isLike(told, then);
  expect(Array.isArray(told)).toBe(true);
  const names = (list: Json): Json[] =>
    Array.isArray(list) ? list.map((one) => fieldsOf(one)['tool_name'] ?? null) : [];
  expect(names(told)).toEqual(expect.arrayContaining(names(then)));
  for (const one of told as Json[]) isLike(one, then[0] ?? null);
}

function isLike(told: Json, then: Json): void {
  expect(typeof told).toBe(typeof then);
  const wanted = Object.keys(fieldsOf(then)).filter((key) => !NOT_SAID.has(key));
  expect(Object.keys(fieldsOf(told))).toEqual(expect.arrayContaining(wanted));
  const { window_info: info } = fieldsOf(then);
  if (info !== undefined) isLike(fieldsOf(told)['window_info'] ?? null, info);
}

/** A PNG of more than one point: UFO's agents take a smaller one for none. */
function isPicture(told: Json): void {
  const [, base64 = ''] = /^data:image\/png;base64,(.+)$/su.exec(textOf(told)) ?? [];
  const bytes = Buffer.from(base64, 'base64');
  expect(bytes.subarray(1, 4).toString('latin1')).toBe('PNG');
  expect(bytes.readUInt32BE(16)).toBeGreaterThan(100);
}
