import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { pino } from 'pino';
import type { ToolAnswer } from '#libs/mcp';
import type { AttemptKey, CommandId, Json } from '#proto';
import { Redactor } from '../secrets/index.js';
import { Toolbox, type ToolboxServer } from './toolbox.client.js';

const VALUE = 'canary-4711-of-the-login';
const ECHOING = fileURLToPath(new URL('../testing/echoing-screen.ts', import.meta.url));
const CLASHING = fileURLToPath(new URL('../testing/clashing-server.ts', import.meta.url));
const server = (name: string, file: string): ToolboxServer => ({
  name,
  spec: { kind: 'stdio', command: process.execPath, args: [file], env: {} },
  timeoutMs: 60_000,
});

let isRedacting = false;
const secrets = {
  refresh: () => Promise.resolve(isRedacting ? new Redactor([['login', VALUE]]) : undefined),
  valueOf: (name: string) => (name === 'login' ? VALUE : undefined),
};
const toolbox = (hasScreen: boolean): Toolbox =>
  new Toolbox({
    servers: [server('device', CLASHING), { ...server('desktop', ECHOING), ...(hasScreen && { hasScreen }) }],
    secrets,
    logger: pino({ level: 'silent' }),
    monotonicMs: () => performance.now(),
    onChange: () => undefined,
  });
const screen = toolbox(true);
const other = toolbox(false);

beforeAll(() => Promise.all([screen.start(), other.start()]));
afterAll(() => Promise.all([screen.close(), other.close()]));

const TEXT = { text: { secret: 'login' } };
async function told(
  tools: Toolbox,
  tool: string,
  args: Readonly<Record<string, Json>>,
  commandId: CommandId | null = 'c1',
): Promise<Json> {
  const answer: ToolAnswer = await tools.call(tool, args, { commandId, signal: new AbortController().signal });
  return answer.kind === 'answered' ? answer.value : answer.kind;
}

describe('a secret that a text for a screen is named by', () => {
  it('is given to the tools of the screen beside the call, which says its name alone', async () => {
    isRedacting = false;
    expect(await told(screen, 'set_edit_text', TEXT)).toMatchObject({ given: TEXT, secret: VALUE });
  });

  it('comes back from nowhere', async () => {
    isRedacting = true;
    expect(await told(screen, 'set_edit_text', TEXT)).toMatchObject({ given: TEXT, secret: '[secret:login]' });
  });

  it.each<[string, () => Promise<Json>]>([
    ['a server of somebody else', () => told(other, 'set_edit_text', TEXT)],
    ['a command of a foreign server', () => told(screen, 'set_edit_text', TEXT, null)],
    ['keys', () => told(screen, 'keyboard_input', TEXT)],
    ['a name that is not there', () => told(screen, 'set_edit_text', { text: { secret: 'other' } })],
    ['a text that says it', () => told(screen, 'set_edit_text', { text: '{"secret":"login"}' })],
  ])('is not given for %s', async (_, asked) => {
    isRedacting = false;
    expect(await asked()).toMatchObject({ secret: null });
  });
});

it('a screen is told whose work a call is and which directory its run has, and no other server', async () => {
  const attempt: AttemptKey = { runId: 'r1', taskId: 't1', attempt: 2 };
  const asked = { commandId: 'c1', attempt, workspace: '/w/r1', signal: new AbortController().signal };
  expect(await screen.call('keyboard_input', {}, asked)).toMatchObject({ value: { attempt, directory: '/w/r1' } });
  expect(await other.call('keyboard_input', {}, asked)).toMatchObject({ value: { attempt: null, directory: null } });
});
