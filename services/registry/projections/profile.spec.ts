import { describe, expect, it } from '@jest/globals';
import {
  AgentProfile,
  DEFAULTS,
  type AdminProfile,
  type DeviceHold,
  type FleetEvent,
  type ServiceManifest,
} from '#proto';
import {
  at,
  connected,
  enrolled,
  given,
  HELD,
  held,
  invited,
  joined,
  released,
  REVOKED,
  revoked,
  telemetry,
} from '../given.testing.js';
import { listed, mergeProfile, profileOf } from './profile.js';

const FLEET_HELD: DeviceHold = { by: { kind: 'person', id: 'bert' }, reason: 'all of it', heldAt: at(1) };

const admin = (changes: Partial<AdminProfile> = {}): AdminProfile => ({ tags: [], capabilities: [], ...changes });
const manifest = (changes: Partial<ServiceManifest> = {}): ServiceManifest => ({
  agent: 'LinuxAgent',
  capabilities: [],
  ...changes,
});

describe('mergeProfile', () => {
  it('takes what the device says about itself', () =>
    expect(mergeProfile(admin(), manifest(), telemetry())).toEqual({
      agent: 'LinuxAgent',
      os: 'linux',
      arch: 'x64',
      hostname: 'web-1.example.org',
      capabilities: ['cli'],
      tags: [],
      tools: [{ name: 'EXEC_CLI', description: 'runs a command', readOnly: false }],
      resources: { cpuCount: 4, memoryMb: 8_192 },
      tasksMax: DEFAULTS.deviceTasksMax,
    }));

  it('adds up the capabilities of all three, the granted ones first', () =>
    expect(
      mergeProfile(
        admin({ capabilities: ['gpu'] }),
        manifest({ capabilities: ['shell', 'gpu'] }),
        telemetry({ capabilities: ['cli', 'shell'] }),
      ).capabilities,
    ).toEqual(['gpu', 'shell', 'cli']));

  it('lets the administrator win over the device, and over the manifest', () =>
    expect(
      mergeProfile(admin({ os: 'Linux', tasksMax: 2 }), manifest({ tasksMax: 5 }), telemetry({ platform: 'win32' })),
    ).toMatchObject({ os: 'linux', tasksMax: 2 }));

  it('lets the manifest win over the default', () =>
    expect(mergeProfile(admin(), manifest({ tasksMax: 5 }), telemetry()).tasksMax).toBe(5));

  it.each(['click_input', 'select_application_window', 'tap', 'type_text', 'press_hotkey'])(
    'gives a device with a screen one task at a time, whoever says more: %s',
    (name) => {
      const tools = [{ name, description: '', readOnly: false }];
      expect(mergeProfile(admin({ tasksMax: 4 }), manifest({ tasksMax: 5 }), telemetry({ tools })).tasksMax).toBe(1);
    },
  );

  it.each([
    ['win32', 'windows'],
    ['darwin', 'macos'],
    ['Linux', 'linux'],
    ['freebsd', 'freebsd'],
    ['', 'unknown'],
  ])('calls the platform "%s" %s', (platform, os) =>
    expect(mergeProfile(admin(), manifest(), telemetry({ platform })).os).toBe(os),
  );

  it('knows little before the first connection', () =>
    expect(mergeProfile(admin({ tags: ['db'] }), manifest(), null)).toMatchObject({
      os: 'unknown',
      tags: ['db'],
      tools: [],
    }));
});

describe('a hostile device', () => {
  const merged = (changes: Parameters<typeof telemetry>[0]): ReturnType<typeof mergeProfile> =>
    mergeProfile(admin({ tags: ['lab'], capabilities: ['granted'] }), manifest(), telemetry(changes));

  it.each([
    [
      'what makes it and what can be shown behind it',
      { wall: 'bwrap', wallViews: ['host-processes'] },
      ['host-processes'],
    ],
    ['what makes it, where the client says no more', { wall: 'bwrap' }, []],
    ['nothing that would fool a terminal', { wall: '\u001B[2Jbwr\u202Eap', wallViews: [] }, []],
  ])('says of the wall around judged commands %s', (_what, metadata, views) => {
    expect(merged({ metadata }).wall?.kind).toMatch(/bwrap$/u);
    expect(merged({ metadata }).wall).toEqual({ kind: expect.not.stringMatching(/\p{C}/u), views });
  });

  it.each([
    ['a client of 0.1.0, which knows none', {}],
    ['a word that is none', { wall: 7 }],
    ['more than a word', { wall: 'x'.repeat(65) }],
    ['more views than there can be', { wall: 'bwrap', wallViews: Array(17).fill('v') }],
  ])('says nothing of a wall for %s', (_who, metadata) => {
    expect(merged({ metadata })).not.toHaveProperty('wall');
  });

  it('says which release its client is and what else there is to know of it, and none of it makes the profile large or fools a terminal', () => {
    const many = Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`k${at}`, 'v'.repeat(999)]));
    expect(
      merged({ metadata: { client: '1.2.3-a\u001B[2J', rack: 'r\u202E7', wall: 'bwrap', slot: 4, list: [1] } }),
    ).toMatchObject({
      client: '1.2.3-a[2J',
      metadata: { rack: 'r7', slot: '4' },
    });
    expect(JSON.stringify(merged({ metadata: many }).metadata).length).toBeLessThan(4_000);
    expect(merged({ metadata: { client: 7, list: [] } })).not.toMatchObject({ client: expect.anything() });
    expect(merged({})).not.toHaveProperty('metadata');
  });

  it('cannot give itself tags, another agent or more slots', () => {
    const claims = {
      metadata: { tags: ['prod'], agent: 'RootAgent', tasksMax: 1_000, deviceId: 'web-2', os: 'windows' },
    };
    expect(merged(claims)).toMatchObject({
      tags: ['lab'],
      agent: 'LinuxAgent',
      tasksMax: DEFAULTS.deviceTasksMax,
      os: 'linux',
    });
  });

  it('cannot push out what was granted by claiming everything', () => {
    const { capabilities } = merged({ capabilities: Array.from({ length: 1_000 }, (_, index) => `c${index}`) });
    expect(capabilities[0]).toBe('granted');
    expect(capabilities.length).toBeLessThanOrEqual(96);
  });

  it('cannot write on terminals, hide text or break a database', () => {
    const hidden = '\u001B[2J\u202Eevil\u0000\u200B\uD800\n';
    const inputSchema = { [`p${hidden}`]: [{ description: hidden, [hidden]: null }] };
    const tools = [
      { name: `E\u0007X${hidden}`, description: `a${hidden}b`, readOnly: true, inputSchema, returns: hidden },
    ];
    const profile = merged({
      hostname: `h${hidden}`,
      arch: hidden,
      platform: hidden,
      capabilities: [hidden, '\u0000'],
      tools,
    });
    expect(JSON.stringify(profile)).not.toMatch(/\\u|[\p{Cc}\p{Cf}\p{Cs}]/u);
    expect(profile).toMatchObject({ hostname: 'h[2Jevil', capabilities: ['granted', '[2Jevil'] });
  });

  it('cannot redefine a tool by naming it twice', () => {
    const tools = [
      { name: 'EXEC_CLI', description: 'first', readOnly: false },
      { name: 'EXEC_CLI\u200B', description: 'second', readOnly: true },
    ];
    expect(merged({ tools }).tools).toEqual([{ name: 'EXEC_CLI', description: 'first', readOnly: false }]);
  });

  it('says how its tools are called, as long as there is room', () => {
    const inputSchema = {
      type: 'object',
      properties: { command: { type: 'string', maxLength: 5 } },
      required: ['command'],
    };
    const tools = [
      { name: 'a', description: '', readOnly: false, inputSchema, returns: '{stdout: string}' },
      { name: 'b', description: '', readOnly: false, inputSchema: { description: 'x'.repeat(40_000) } },
      { name: 'c', description: '', readOnly: false, inputSchema },
    ];
    expect(merged({ tools }).tools).toEqual([tools[0], { name: 'b', description: '', readOnly: false }, tools[2]]);
  });

  it('cannot make its profile large', () => {
    const tools = Array.from({ length: 1_000 }, (_, index) => ({
      name: `tool-${index}`,
      description: '\u{1F600}'.repeat(2_000),
      readOnly: false,
      inputSchema: { description: 'x'.repeat(5_000) },
    }));
    const profile = merged({ tools });
    expect(profile.tools).toHaveLength(256);
    expect(Buffer.byteLength(JSON.stringify(profile))).toBeLessThan(300_000);
    expect(JSON.stringify(profile)).not.toContain(String.raw`\ud83d`);
  });
});

describe('profileOf', () => {
  it.each([
    ['before the first connection', [enrolled()]],
    ['while connected', [enrolled(), connected('s1')]],
  ])('is a valid AgentProfile %s', (_when, facts) => {
    const device = given(...facts);
    if (device === undefined) throw new Error('no device');
    expect(AgentProfile.parse(profileOf(device, null))).toEqual(profileOf(device, null));
  });

  it.each([
    ['nobody', [], null, null],
    ['whoever holds the whole fleet', [], FLEET_HELD, FLEET_HELD],
    ['whoever holds the device', [held()], null, HELD],
    ['whoever holds the device, when the whole fleet is held, too', [held()], FLEET_HELD, HELD],
    ['nobody any more', [held(), released()], null, null],
    ['whoever still holds the whole fleet', [held(), released()], FLEET_HELD, FLEET_HELD],
  ])('says that it is held by %s', (_who, facts, fleetHeld, expected) => {
    const device = given(enrolled(), ...facts);
    if (device === undefined) throw new Error('no device');
    expect(profileOf(device, fleetHeld).held).toEqual(expected);
  });

  it('says that it is revoked, and how its client proves who it is', () => {
    const show = (...facts: FleetEvent[]) => {
      const device = given(...facts);
      if (device === undefined) throw new Error('no device');
      const { revoked: by, credential } = profileOf(device, null);
      return { by, credential };
    };
    expect(show(enrolled())).toEqual({ by: null, credential: 'token' });
    expect(show(invited())).toEqual({ by: null, credential: null });
    expect(show(invited(), joined())).toEqual({ by: null, credential: 'key' });
    expect(show(invited(), joined(), revoked())).toEqual({ by: REVOKED, credential: null });
  });

  it('shows nothing of the credential', () => {
    const device = given(enrolled({}, 'c'.repeat(64)));
    if (device === undefined) throw new Error('no device');
    expect(JSON.stringify(profileOf(device, null))).not.toContain('cccc');
  });
});

describe('a list of all devices', () => {
  const device = given(enrolled(), connected('s1'));
  if (device === undefined) throw new Error('no device');
  const profiles = Array.from({ length: 10 }, (_, index) => ({ ...profileOf(device, null), deviceId: `d${index}` }));
  const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));

  it('has the names of their tools and not what these do', () => {
    const [first] = listed(profiles);
    expect(first).toEqual({ ...profiles[0], tools: [{ name: 'EXEC_CLI', description: '', readOnly: false }] });
  });

  it('has every device also when the tools of some are too many for one message', () => {
    const whole = bytesOf(listed(profiles));
    const short = listed(profiles, whole - 1);
    expect(bytesOf(short)).toBeLessThan(whole);
    expect(short).toEqual(profiles.map((profile) => ({ ...profile, tools: [] })));
    expect(listed(profiles, whole)).toEqual(listed(profiles));
  });
});
