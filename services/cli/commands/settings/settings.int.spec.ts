import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { serveQueries, type Served } from '#libs/messaging';
import { ANYBODY, notAsked, startTestBus, type TestBus } from '#libs/testing';
import type { SettingsInUse } from '#proto';
import { runProgram } from '../../run-program.js';
import { fakeTerminal, surroundings } from '../../testing/fake-terminal.js';

const HASH = 'a'.repeat(64);
const [LINUX, SHARED, OTHER] = ['1'.repeat(64), '2'.repeat(64), '3'.repeat(64)] as const;
const TEXTS: Readonly<Record<string, string>> = { [LINUX]: 'version: 1\n', [SHARED]: 'one\n', [OTHER]: 'other\n' };
const ESCAPE = '\u001B';

const DEVICE_AGENT: SettingsInUse = {
  instance: 'device-agent-1',
  policy: {
    hash: HASH,
    layers: [
      {
        from: `/etc/policy.yaml${ESCAPE}[2J`,
        devices: { tags: ['lab'] },
        defaults: { read: 'approve' },
        rules: [{ id: 'web.no-restart', match: 'systemctl restart', decision: 'deny', reason: 'At night only.' }],
        floor: [{ id: 'never.wipe', match: 'rm of /' }],
        sensitivePaths: ['/etc/shadow'],
        tools: {},
      },
    ],
  },
  prompts: [
    { file: 'device-agent/linux-agent.yaml', sha256: LINUX, bytes: 11 },
    { file: 'device-agent/shared.yaml', sha256: SHARED, bytes: 4 },
  ],
  models: [
    {
      of: 'default',
      model: 'small',
      host: 'models.example:8443',
      hasKey: true,
      temperature: 0.2,
      maxTokens: null,
      timeoutMs: 120_000,
      retries: 2,
      seesPictures: true,
    },
  ],
  visual: true,
  replays: false,
};
const PLANNER: SettingsInUse = {
  instance: 'planner-1',
  policy: null,
  prompts: [{ file: 'planner/shared.yaml', sha256: OTHER, bytes: 6 }],
  models: [],
  visual: false,
  replays: false,
};

let bus: TestBus;
let planner: Served;

beforeAll(async () => {
  bus = await startTestBus();
  const [agents, plans] = await Promise.all([bus.as('device-agent'), bus.as('planner')]);
  const prompt = async ({ sha256 }: { readonly sha256: string }) => ({ text: TEXTS[sha256] ?? null });
  const agent = { ...notAsked('device-agent'), settings: async () => DEVICE_AGENT, prompt };
  await serveQueries(agents, 'device-agent', agent, { authority: ANYBODY });
  const plan = { ...notAsked('planner'), settings: async () => PLANNER, prompt };
  planner = await serveQueries(plans, 'planner', plan, { authority: ANYBODY });
});
afterAll(() => bus.stop());

async function orrery(line: string) {
  const terminal = fakeTerminal();
  const env = { ORRERY_NATS_URL: bus.server.url, ORRERY_NATS_SEED_FILE: bus.seedFile('cli') };
  const exitCode = await runProgram(line.split(' '), surroundings(terminal, env));
  return { exitCode, out: terminal.outLines.join('\n'), err: terminal.errLines.join('\n') };
}

describe('orrery settings', () => {
  it('says by which policy, prompts and models the services work, whatever a file is called', async () => {
    const { exitCode, out, err } = await orrery('settings');
    expect({ exitCode, err }).toEqual({ exitCode: 0, err: '' });
    expect(out.split('\n')).toEqual([
      'device-agent: device-agent-1',
      '',
      `policy ${HASH}`,
      'from /etc/policy.yaml, for tagged lab',
      '  by class  read approve',
      '  secrets   /etc/shadow',
      'never.wipe\tnever\trm of /\t-',
      'web.no-restart\tdeny\tsystemctl restart\tAt night only.',
      '',
      'prompts',
      `device-agent/linux-agent.yaml\t${LINUX}`,
      `device-agent/shared.yaml\t${SHARED}`,
      '',
      'models',
      'default\tsmall\tmodels.example:8443\tyes\tpictures\t0.2\t-\t120 s\t2',
      'agents of screens show pictures to those that see',
      '',
      'planner: planner-1',
      '',
      'prompts',
      `planner/shared.yaml\t${OTHER}`,
      'models: none is configured',
    ]);
  });

  it('gives a program all of it, of one service where that is asked', async () => {
    const { out } = await orrery('settings --service planner --json');
    expect(JSON.parse(out)).toEqual({ services: [{ service: 'planner', replicas: [PLANNER] }] });
  });

  it.each(['linux-agent.yaml', LINUX.slice(0, 8)])(
    'shows the text of a file of prompts by its name or hash: %s',
    async (name) => {
      expect(await orrery(`settings prompt ${name}`)).toEqual({ exitCode: 0, out: 'version: 1', err: '' });
    },
  );

  it('gives a program the text as it is', async () => {
    const { out } = await orrery('settings prompt 1111 --json');
    const file = 'device-agent/linux-agent.yaml';
    expect(JSON.parse(out)).toEqual({ service: 'device-agent', file, sha256: LINUX, text: TEXTS[LINUX] });
  });

  it.each([
    ['a file that nobody has', 'settings prompt none.yaml', 'see: orrery settings'],
    ['a name of two texts', 'settings prompt shared.yaml', `${OTHER} (planner/shared.yaml of the planner)`],
    ['a service without any', 'settings --service registry', 'There is device-agent, planner.'],
  ])('%s is bad input', async (_, line, message) => {
    const { exitCode, out, err } = await orrery(line);
    expect({ exitCode, out }).toEqual({ exitCode: 3, out: '' });
    expect(err).toContain(message);
  });

  it('does not take one service for all when the other is not there', async () => {
    await planner.stop();
    const { exitCode, out, err } = await orrery('settings');
    expect({ exitCode, out }).toEqual({ exitCode: 4, out: '' });
    expect(err).toContain('planner');
  });
});
