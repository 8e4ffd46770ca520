import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { mobileAgent, testing } from '#libs/device-agent';
import { pngOf } from '#libs/picture';
import type { Json } from '#proto';
import { TestBench, until } from '../../services/aip-gateway/testing/test-bench.adapter.js';
import { loadTrace, type Exchange } from '../../services/aip-gateway/testing/trace.js';
import { TraceSocket } from '../../services/aip-gateway/testing/trace-socket.js';
import { workedOver } from './over-gateway.js';
import { said, type Frame } from './recorded-windows.js';

/*
 * A client of UFO with `--platform mobile` on a socket of our gateway. Nobody has recorded one: names, arguments and the shapes of its
 * answers are those of UFO's source, as it was read.
 */

const DEVICE = 'phone-9';
const PACKAGE = 'com.example.notes';

let bench: TestBench;
beforeAll(async () => {
  bench = await TestBench.start();
});
afterAll(() => bench.stop());

const did = (tool: string, parameters: Record<string, Json>, result: Json): Exchange => ({
  sessionId: null,
  tool,
  parameters,
  result: { status: 'success', error: null, result, namespace: 'Mobile', call_id: '' },
});

const required = (name: string, ...words: string[]): Json => ({
  tool_key: `action::${name}`,
  tool_name: name,
  title: null,
  namespace: 'MobileExecutor',
  tool_type: 'action',
  description: name,
  input_schema: { type: 'object', properties: Object.fromEntries(words.map((word) => [word, {}])), required: words },
  output_schema: null,
  meta: null,
  annotations: null,
});

const control = (id: string, name: string, type: string): Json => ({
  kind: 'control',
  id,
  name,
  type,
  rect: [100, 200, 300, 260],
});
const FIELD = { control_id: '1', control_name: 'Title' };
const PICTURE = `data:image/png;base64,${pngOf({ width: 2, height: 2, rgb: new Uint8Array(12) }).toString('base64')}`;

/** A phone that shows the same all the time, as often as somebody looks. */
const looks = (times: number): Exchange[] =>
  Array.from({ length: times }, () => [
    did('capture_screenshot', {}, PICTURE),
    did('get_app_window_controls_target_info', { force_refresh: true }, [
      control('1', 'Title', 'EditText'),
      control('2', 'OK', 'Button'),
    ]),
  ]).flat();

const TOOLS = did('list_tools', { tool_type: 'action' }, [
  required('tap', 'x', 'y'),
  required('type_text', 'text', 'control_id', 'control_name'),
  required('click_control', 'control_id', 'control_name'),
]);
const APPLICATIONS = did('get_mobile_app_target_info', { include_system_apps: false }, [
  { kind: 'third_party_agent', id: '1', name: PACKAGE, type: PACKAGE },
]);

/** It registers as UFO's client of a Windows machine was recorded to, but for what it is. */
async function connected(exchanges: readonly Exchange[]) {
  const [register] = loadTrace('windows-session').flatMap(({ what }) => ('frame' in what ? [what.frame] : []));
  const { url } = await bench.gateway();
  const device = await TraceSocket.dial(`${url}?token=token-${DEVICE}`, { exchanges });
  device.send({ ...register, type: 'register', client_id: DEVICE, metadata: { platform: 'mobile' } });
  const presence = await until(
    () => bench.presenceOf(DEVICE),
    (seen) => (seen?.telemetry.tools.length ?? 0) > 0,
  );
  return { device, sessionId: presence?.sessionId ?? '', tools: presence?.telemetry.tools ?? [] };
}

const type = (text: string) => testing.say({ call: ['type_text', { ...FIELD, text }] });
const click = testing.say({ call: ['click_control', { control_id: '2', control_name: 'OK' }] });

it('a phone behind UFO’s client is looked at, tapped and typed into by our MobileAgent, and nothing of a text reaches its shell', async () => {
  const typed = { ...FIELD, text: 'Meet at 10:30' };
  const { device, sessionId, tools } = await connected([
    TOOLS,
    APPLICATIONS,
    ...looks(7),
    did('tap', { x: 200, y: 230 }, { success: true, action: 'tap(200, 230)', output: '', error: '' }),
    did('type_text', typed, { success: true, action: 'type_text', message: 'typed' }),
    did('click_control', { control_id: '2', control_name: 'OK' }, { success: false, error: 'error: device offline' }),
  ]);
  const prompter = new testing.SpyPrompter();
  const task = testing.sampleTask();
  const end = await workedOver({
    bench,
    kind: mobileAgent({ prompter, sees: true }),
    task: { ...task, device: { ...task.device, deviceId: DEVICE, os: 'mobile', tools } },
    attempt: { runId: 'run-1', taskId: 'task', attempt: 1 },
    deviceId: DEVICE,
    sessionId,
    replies: [
      testing.say({ call: ['tap', { x: 200, y: 230 }] }),
      type('say "x"; reboot'),
      type('Grüße'),
      type(typed.text),
      click,
      testing.say({ call: ['adb_shell', { line: 'reboot' }] }),
      testing.finish('typed, and the phone went away'),
    ],
  });
  expect(end).toMatchObject({ kind: 'finished' });

  const sent = device.commands.map((frame) => said(frame as unknown as Frame));
  expect(new Set(sent.map(({ agent_name: agent }) => agent))).toEqual(new Set(['MobileAgent']));
  const actions = sent.flatMap((one) => one.actions);
  expect(actions.slice(0, 3).map(({ tool_name: tool, tool_type: kind }) => `${kind} ${tool}`)).toEqual([
    'data_collection capture_screenshot',
    'data_collection get_mobile_app_target_info',
    'data_collection get_app_window_controls_target_info',
  ]);
  expect(actions.filter(({ tool_type: kind }) => kind === 'action')).toEqual([
    { tool_name: 'tap', parameters: { x: 200, y: 230 }, tool_type: 'action' },
    { tool_name: 'type_text', parameters: typed, tool_type: 'action' },
    { tool_name: 'click_control', parameters: { control_id: '2', control_name: 'OK' }, tool_type: 'action' },
  ]);

  // Before each turn it was shown the screen; after what was refused or went wrong, why.
  const images = prompter.at(1).observation?.filter((part) => part.type === 'image');
  expect(images).toEqual([expect.objectContaining({ mediaType: 'image/png' })]);
  const told = (step: number): string => JSON.stringify(prompter.at(step).memory.items.at(-1));
  expect(told(3)).toContain('arguments.text: the tools of this phone hand it to a shell unquoted');
  expect(told(4)).toContain('arguments.text: the tools of this phone hand it to a shell unquoted');
  expect(told(6)).toContain('error: device offline');
  expect(told(7)).toContain('adb_shell');
  device.cut();
  await bench.clear();
});
