import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { ToolClient, type ToolAnswer } from '#libs/mcp';
import { pngOf, readPng } from '#libs/picture';
import { hasAdb, RealAdb, StandInAdbd, StandInPhone, StandInServer } from '#libs/testing';
import { ON_META, type Json, type MobileSettings } from '#proto';

const MAIN = fileURLToPath(new URL('../../dist/services/mobile-tools/main.js', import.meta.url));
const CALL = { signal: new AbortController().signal, timeoutMs: 120_000 };
const PNG = Buffer.concat([
  Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13]),
  Buffer.from('IHDR'),
  Buffer.from([0, 0, 4, 56, 0, 0, 9, 36, 8, 2, 0, 0, 0]),
]);

interface Drawn {
  readonly type?: string;
  readonly text?: string;
  readonly resource?: string;
  readonly rect?: string;
  readonly flags?: string;
}

const escaped = (text: string): string =>
  text.replaceAll(/[&<"]/gu, (one) => ({ '&': '&amp;', '<': '&lt;' })[one] ?? '&quot;');

const drawn = ({
  type = 'Button',
  text = '',
  resource = '',
  rect = '[100,200][300,260]',
  flags = 'clickable',
}: Drawn) =>
  `<node class="android.widget.${type}" package="com.example.notes" text="${escaped(text)}" content-desc="" resource-id="${resource}" enabled="true" ${flags
    .split(' ')
    .filter((flag) => flag !== '')
    .map((flag) => `${flag}="true"`)
    .join(' ')} bounds="${rect}" />`;

/** A screen of one application, with these things on it. */
const screen = (...things: Drawn[]): string => shownBy('com.example.notes', ...things);
const shownBy = (application: string, ...things: Drawn[]): string =>
  `<?xml version='1.0' encoding='UTF-8' standalone='yes' ?><hierarchy rotation="0"><node class="android.widget.FrameLayout" package="${application}" bounds="[0,0][1080,2340]">${things.map(drawn).join('')}</node></hierarchy>`;

const FIELD: Drawn = { type: 'EditText', resource: 'com.example.notes:id/title', flags: 'clickable focused' };
const OK: Drawn = { text: 'OK' };

interface Rig {
  readonly phone: StandInPhone;
  readonly tools: ToolClient;
  stop(): Promise<void>;
}

async function serve(settings: MobileSettings): Promise<ToolClient> {
  const spec = { kind: 'stdio', command: process.execPath, args: [MAIN, JSON.stringify(settings)], env: {} } as const;
  const onFact = (): void => undefined;
  const tools = new ToolClient({ name: 'mobile', spec, onFact, monotonicMs: () => performance.now() });
  tools.start();
  await tools.ready(60_000);
  return tools;
}

async function withStandIn(): Promise<Rig> {
  const phone = await StandInPhone.make('phone-a');
  const server = await StandInServer.start([phone]);
  const { host, port } = server.address;
  const tools = await serve({ serial: 'phone-a', server: `${host}:${port}`, applications: ['com.example.notes'] });
  const stop = async (): Promise<void> => {
    await tools.close();
    await phone.remove();
    await server.close();
  };
  return { phone, tools, stop };
}

async function withRealAdb(): Promise<Rig> {
  const phone = await StandInPhone.make('phone-a');
  const [adb, adbd] = await Promise.all([RealAdb.start(), StandInAdbd.start(phone)]);
  const serial = await adb.connect(adbd.port);
  const tools = await serve({ serial, server: adb.address.path, applications: ['com.example.notes'] });
  const stop = async (): Promise<void> => {
    await tools.close();
    await adb.stop();
    await adbd.close();
    await phone.remove();
  };
  return { phone, tools, stop };
}

let rig: Rig;

async function call(tool: string, args: Record<string, Json> = {}, on?: object): Promise<ToolAnswer> {
  return rig.tools.call(tool, args, { ...CALL, ...(on !== undefined && { meta: { [ON_META]: on } }) });
}

/** What a tool answers that has done what it was asked for. */
async function done(tool: string, args: Record<string, Json> = {}, on?: object): Promise<Record<string, Json>> {
  const answer = await call(tool, args, on);
  if (answer.kind !== 'answered' || answer.isError) throw new Error(`${tool}: ${JSON.stringify(answer)}`);
  return answer.value as Record<string, Json>;
}

async function refused(tool: string, args: Record<string, Json> = {}, on?: object): Promise<string> {
  const answer = await call(tool, args, on);
  if (answer.kind !== 'answered' || !answer.isError)
    throw new Error(`${tool} was not refused: ${JSON.stringify(answer)}`);
  return typeof answer.value === 'string' ? answer.value : JSON.stringify(answer.value);
}

const list = () => done('get_app_window_controls_target_info');

const nothingDone = async (): Promise<void> => expect(await rig.phone.calls()).toEqual([]);

async function begin(xml: string): Promise<void> {
  rig.phone.oddities.vanishOn = undefined;
  rig.phone.isThere = true;
  await rig.phone.put('packages', 'com.example.notes\ncom.example.mail\n');
  await rig.phone.put('screen.xml', xml);
  await rig.phone.put('screen.png', PNG);
  await rig.phone.take('keyboard');
  await rig.phone.calls();
}

const RIGS: [string, () => Promise<Rig>][] = [['a server that stands in for adb', withStandIn]];
if (hasAdb()) RIGS.push(["the distribution's adb", withRealAdb]);
else process.stderr.write('There is no adb here: the tools for a phone are not tried with the real server.\n');

describe.each(RIGS)('a phone behind %s', (_, make) => {
  beforeAll(async () => {
    rig = await make();
  });
  afterAll(() => rig.stop());
  beforeEach(() => begin(screen(FIELD, OK)));

  it('is looked at, typed into, tapped, swiped, left and started', async () => {
    const { listing, result, window, listed } = await list();
    expect({ window, listed }).toEqual({
      window: { application: 'com.example.notes', window: 'com.example.notes' },
      listed: true,
    });
    expect(result).toMatchObject([
      { kind: 'control', id: '1', name: 'title', type: 'EditText', state: ['focused'] },
      { kind: 'control', id: '2', name: 'OK', type: 'Button', rect: [100, 200, 300, 260] },
    ]);
    expect(listing).toEqual(expect.any(String));
    const text = `it's "here"; $(touch x) & 100%s\n--done`;
    await done('type_text', { text, control_id: '1', control_name: 'title' });
    await list();
    await done('click_control', { control_id: '2', control_name: 'OK' });
    await done('swipe', { start_x: 500, start_y: 1500, end_x: 500, end_y: 300 });
    await done('tap', { x: 10, y: 20 });
    await done('press_key', { key_code: 'KEYCODE_HOME' });
    await done('back');
    await done('launch_app', { package_name: 'com.example.notes' });
    expect(await rig.phone.calls()).toEqual([
      ['input', 'tap', '200', '230'],
      ['input', 'text', `it's "here"; $(touch x) & 100%`],
      ['input', 'text', 's'],
      ['input', 'keyevent', 'KEYCODE_ENTER'],
      ['input', 'text', '--done'],
      ['input', 'tap', '200', '230'],
      ['input', 'swipe', '500', '1500', '500', '300', '300'],
      ['input', 'tap', '10', '20'],
      ['input', 'keyevent', 'KEYCODE_HOME'],
      ['input', 'keyevent', 'KEYCODE_BACK'],
      ['monkey', '-p', 'com.example.notes', '-c', 'android.intent.category.LAUNCHER', '1'],
    ]);
    expect(await rig.phone.leftBehind()).toEqual([]);
  });

  it('gives its picture, its applications and what it is', async () => {
    const picture = await call('capture_screenshot');
    expect(picture).toMatchObject({
      value: { pictures: [{ of: 'screen', rect: [0, 0, 1080, 2340], width: 1080, height: 2340 }] },
      parts: [{ type: 'resource', resource: { mimeType: 'image/png', blob: PNG.toString('base64') } }],
    });
    expect(await done('get_mobile_app_target_info', { filter: 'MAIL' })).toEqual({
      result: [
        { kind: 'third_party_agent', id: '1', name: 'com.example.mail', type: 'com.example.mail', listed: false },
      ],
    });
    expect(await done('get_device_info')).toEqual({ model: 'Stand-in 1', release: '14', size: '1080x2340' });
  });

  it('types any ASCII as it is, and runs nothing of it', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ minLength: 1, maxLength: 60 }), async (text) => {
        await list();
        await done('type_text', { text, control_id: '1', control_name: 'title' });
        const [, ...typed] = await rig.phone.calls();
        expect(typed.map(([program, kind, one, ...rest]) => [program, kind, rest.length, one?.includes('%s')])).toEqual(
          typed.map(() => ['input', 'text', 0, false]),
        );
        expect(typed.map((words) => words[2]).join('')).toBe(text);
      }),
      { numRuns: 5 },
    );
    expect(await rig.phone.leftBehind()).toEqual([]);
  });

  it('types umlauts by an input method that takes them, and without it nothing at all', async () => {
    await list();
    const umlauts = { text: 'Grüße 😀', control_id: '1', control_name: 'title' };
    expect(await refused('type_text', umlauts)).toMatch(/^TEXT: this device types plain ASCII only/u);
    await nothingDone();
    await rig.phone.put('keyboard', 'com.android.adbkeyboard/.AdbIME\n');
    await list();
    await done('type_text', umlauts);
    const [, broadcast] = await rig.phone.calls();
    expect(broadcast?.slice(0, -1)).toEqual(['am', 'broadcast', '-a', 'ADB_INPUT_B64', '--es', 'msg']);
    expect(Buffer.from(broadcast?.at(-1) ?? '', 'base64').toString()).toBe('Grüße 😀');
  });

  it.each<[string, Record<string, Json>, RegExp]>([
    ['press_key', { key_code: 'KEYCODE_HOME; touch x' }, /^KEYS: /u],
    ['press_key', { key_code: '26' }, /^KEYS: /u],
    ['launch_app', { package_name: 'x; touch x' }, /^APPLICATION: /u],
    ['launch_app', { package_name: 'com.example.absent' }, /^APPLICATION: com\.example\.absent is not installed/u],
    ['tap', { x: 1080, y: 5 }, /^OUTSIDE: /u],
    ['swipe', { start_x: 1, start_y: 1, end_x: 1, end_y: 9_999 }, /^OUTSIDE: /u],
  ])('refuses %s of %j', async (tool, args, sentence) => {
    expect(await refused(tool, args)).toMatch(sentence);
    await nothingDone();
    expect(await rig.phone.leftBehind()).toEqual([]);
  });

  it('says that nobody knows what was done when it is gone in the middle, and taps nothing twice', async () => {
    await list();
    rig.phone.oddities.vanishOn = 'input';
    expect(await refused('click_control', { control_id: '2', control_name: 'OK' })).toMatch(/^OUTCOME_UNKNOWN: /u);
    expect(await refused('get_app_window_controls_target_info')).toMatch(/^NO_DEVICE: /u);
    expect(await rig.phone.calls()).toEqual([]);
  });
});

describe('a phone', () => {
  beforeAll(async () => {
    rig = await withStandIn();
  });
  afterAll(() => rig.stop());
  beforeEach(() => begin(screen(FIELD, OK)));

  const click = (name = 'OK', id = '2', on?: object) =>
    refused('click_control', { control_id: id, control_name: name }, on);

  it('marks its picture with the ids of the newest listing, and has none to mark without one', async () => {
    const plain = { width: 400, height: 300, rgb: new Uint8Array(400 * 300 * 3).fill(255) };
    await rig.phone.put('screen.png', pngOf(plain));
    await list();
    const answer = await call('capture_screenshot', { annotated: true });
    expect(answer).toMatchObject({ isError: false, value: { pictures: [{ of: 'screen' }, { of: 'marked' }] } });
    const parts = answer.kind === 'answered' ? (answer.parts ?? []) : [];
    const [clean, marked] = parts.map((part) => {
      const { blob } = part['resource'] as { readonly blob: string };
      const read = readPng(Buffer.from(blob, 'base64'));
      return 'picture' in read ? read.picture : plain;
    });
    expect(clean?.rgb).toEqual(plain.rgb);
    // The frame of the button at 100,200 and nothing far from it.
    const redAt = (x: number, y: number) => marked?.rgb[(y * 400 + x) * 3 + 1];
    expect([redAt(299, 230), redAt(350, 20)]).toEqual([60, 255]);
    await done('back');
    expect(await refused('capture_screenshot', { annotated: true })).toMatch(/^WINDOW_CHANGED: /u);
  });

  it('taps by no id before anything is listed', async () => {
    const fresh = await withStandIn();
    const answer = await fresh.tools.call('click_control', { control_id: '1', control_name: 'OK' }, CALL);
    expect(answer).toMatchObject({ isError: true, value: expect.stringMatching(/^NO_WINDOW: /u) });
    await fresh.stop();
  });

  it('taps by no id of an older listing', async () => {
    await list();
    await done('press_key', { key_code: 'KEYCODE_TAB' });
    await rig.phone.calls();
    expect(await click()).toMatch(/^WINDOW_CHANGED: the listing is not the newest/u);
    await nothingDone();
  });

  it.each<[string, string, string]>([
    ['went away', screen(FIELD), 'WINDOW_CHANGED: Button "OK" is not where it was'],
    ['moved', screen(FIELD, { ...OK, rect: '[100,900][300,960]' }), 'WINDOW_CHANGED: Button "OK" is not where it was'],
    [
      'asks something else',
      screen({ type: 'TextView', text: 'Delete all?' }, FIELD, OK),
      'WINDOW_CHANGED: the screen shows something else',
    ],
    [
      'is of another application',
      shownBy('com.example.mail', FIELD, OK),
      'WINDOW_CHANGED: "com.example.mail" is in front',
    ],
  ])('does not tap what %s since it was listed', async (_, xml, sentence) => {
    await list();
    await rig.phone.put('screen.xml', xml);
    expect(await click()).toContain(sentence);
    await nothingDone();
  });

  it('taps beside a clock that went on', async () => {
    await rig.phone.put('screen.xml', screen({ type: 'TextView', text: '12:59' }, OK));
    await list();
    await rig.phone.put('screen.xml', screen({ type: 'TextView', text: '13:00' }, OK));
    await done('click_control', { control_id: '2', control_name: 'OK' });
  });

  it('taps nothing of another name, and nothing that is not there', async () => {
    await list();
    expect(await click('Cancel')).toMatch(/^MISMATCH: control 2 is called "OK", not "Cancel"/u);
    expect(await click('OK', '9')).toMatch(/^NOT_FOUND: /u);
    await nothingDone();
  });

  it('holds an action to what its agent saw', async () => {
    const { listing: snapshot } = await list();
    const window = { application: 'com.example.notes', window: 'com.example.notes' };
    const control = { id: '2', type: 'Button', name: 'OK' };
    expect(await click('OK', '2', { ...window, control, snapshot: 'older.1' })).toMatch(/^WINDOW_CHANGED: /u);
    expect(await click('OK', '2', { ...window, application: 'com.bank', control, snapshot })).toMatch(/^MISMATCH: /u);
    const other = { ...control, type: 'Switch' };
    expect(await click('OK', '2', { ...window, control: other, snapshot })).toMatch(/^MISMATCH: /u);
    await nothingDone();
    await done('click_control', { control_id: '2', control_name: 'OK' }, { ...window, control, snapshot });
  });

  it('holds bare coordinates and keys to the application that was seen', async () => {
    const { listing: snapshot } = await list();
    const seen = { application: 'com.example.notes', window: 'com.example.notes', snapshot };
    await rig.phone.put('screen.xml', shownBy('com.example.mail', OK));
    expect(await refused('tap', { x: 5, y: 5 }, seen)).toMatch(/^WINDOW_CHANGED: /u);
    expect(await refused('press_key', { key_code: 'KEYCODE_ENTER' }, seen)).toMatch(/^WINDOW_CHANGED: /u);
    await nothingDone();
  });

  it('deletes what a field holds before it is written anew', async () => {
    await rig.phone.put('screen.xml', screen({ ...FIELD, text: 'old' }));
    await list();
    await done('type_text', { text: 'new', control_id: '1', control_name: 'title', clear_current_text: true });
    expect((await rig.phone.calls()).slice(1)).toEqual([
      ['input', 'keyevent', 'KEYCODE_MOVE_END', 'KEYCODE_DEL', 'KEYCODE_DEL', 'KEYCODE_DEL'],
      ['input', 'text', 'new'],
    ]);
  });

  it('types nothing where the field has not got the focus', async () => {
    await rig.phone.put('screen.xml', screen({ ...FIELD, flags: 'clickable' }, OK));
    await list();
    const answer = await refused('type_text', { text: 'x', control_id: '1', control_name: 'title' });
    expect(answer).toMatch(/^NOT_INTERACTABLE: .*nothing was typed$/u);
    expect(await rig.phone.calls()).toEqual([['input', 'tap', '200', '230']]);
  });

  it('types nothing into a button, nor into a field for a password', async () => {
    await rig.phone.put('screen.xml', screen({ ...FIELD, text: 'hunter2', flags: 'clickable focused password' }, OK));
    expect(JSON.stringify(await list())).not.toContain('hunter2');
    const type = (id: string, name: string) => refused('type_text', { text: 'x', control_id: id, control_name: name });
    expect(await type('1', 'title')).toMatch(/^PASSWORD: /u);
    expect(await type('2', 'OK')).toMatch(/^NOT_INTERACTABLE: /u);
    await nothingDone();
  });

  it('says that a screen that never rests cannot be read, and shows no older one', async () => {
    await list();
    await rig.phone.take('screen.xml');
    expect(await refused('get_app_window_controls_target_info')).toMatch(
      /^NOT_RESPONDING: .*could not get idle state/u,
    );
    expect(await click()).toMatch(/^WINDOW_CHANGED: /u);
  });
});
