import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ConfigError, parseConfig } from '#libs/platform';
import { loadAgentKit } from './kit.adapter.js';
import { DeviceAgentConfig } from '../device-agent.config.js';

let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'orrery-test-kit-'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

const load = (environment: Record<string, string>) =>
  loadAgentKit(parseConfig(DeviceAgentConfig, environment), environment);

const refusal = async (environment: Record<string, string>): Promise<string> => {
  const refused = await load(environment).catch((error: unknown) => error);
  return refused instanceof ConfigError ? refused.message : `not refused: ${String(refused)}`;
};

describe('what agents are made of', () => {
  it('is a policy alone without a model: exact commands only', async () => {
    const { model, kinds, policy } = await load({});
    expect([model, kinds]).toEqual([null, []]);
    const command = { tool: 'EXEC_CLI', arguments: { command: 'rm -rf /' } };
    expect(policy.judge(command, undefined).decision).toBe('deny');
  });

  it('is the agents that come with the product, with their prompts, where a model is configured', async () => {
    const { model, kinds } = await load({ ORRERY_MODEL: 'some', OPENAI_BASE_URL: 'http://127.0.0.1:9/v1' });
    expect(model).not.toBeNull();
    expect(kinds.map(({ name }) => name)).toEqual(['LinuxAgent', 'MobileAgent', 'WindowsAgent', 'DesktopAgent']);
  });

  it.each([
    ['an agent of a screen', 'AppAgent: { seesPictures: true }', true],
    ['an agent that shows no pictures', 'LinuxAgent: { seesPictures: true }', false],
  ])('says whether pictures are shown to models: one that sees is given to %s', async (_, agents, visual) => {
    const file = join(directory, `model-${visual}.yaml`);
    const lines = ['default: { baseUrl: http://127.0.0.1:9/v1, model: some }', `agents: { ${agents} }`];
    await writeFile(file, lines.join('\n'));
    expect((await load({ ORRERY_MODEL_FILE: file })).inUse.visual).toBe(visual);
  });

  it('is refused in a sentence when the policy, the model or the prompts cannot be used', async () => {
    const policy = join(directory, 'policy.yaml');
    await writeFile(policy, 'rules: 7');
    expect(await refusal({ ORRERY_POLICY_FILE: policy })).toMatch(/^ORRERY_POLICY_FILE names no policy: .*rules/u);
    expect(await refusal({ ORRERY_POLICY_FILE: join(directory, 'none') })).toMatch(
      /^ORRERY_POLICY_FILE cannot be read/u,
    );
    const key = 'sk-canary-0123456789';
    const model = await refusal({ ORRERY_MODEL: 'x', OPENAI_BASE_URL: 'ftp://x', OPENAI_API_KEY: key });
    expect(model).toMatch(/http/u);
    expect(model).not.toContain(key);
    await writeFile(join(directory, 'linux-agent.yaml'), 'version: none');
    expect(await refusal({ ORRERY_MODEL: 'x', ORRERY_PROMPTS_DIR: directory })).toMatch(
      /prompts in .* cannot be used/u,
    );
    expect(() => parseConfig(DeviceAgentConfig, { ORRERY_KEEP_PROMPTS: 'maybe' })).toThrow('ORRERY_KEEP_PROMPTS');
  });
});
