import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { testing } from '#libs/device-agent';
import { pngOf, readPng } from '#libs/picture';
import type { CommandOutcome, Json, RunCommandRequest } from '#proto';
import { AgentWorld } from '../testing/agent-world.js';
import { messageOf } from '../testing/agent.js';
import { outcomeOf } from '../testing/device.js';
import { testPolicy } from '../testing/policy.js';
import { profileOf } from '../testing/profile.js';

/* What a person is shown who is asked about a button: the button, in its window, as its agent saw it. */

const PNG = pngOf({ width: 800, height: 600, rgb: new Uint8Array(800 * 600 * 3).fill(200) });
const SHA256 = createHash('sha256').update(PNG).digest('hex');
const SEND: Json = { kind: 'control', id: '7', name: 'Send', type: 'Button', rect: [140, 90, 220, 110] };
const said = (reply: object): { json: Json } => ({ json: reply as Json });
const SCRIPT = [
  said(testing.hostAssigns('send it')),
  said(testing.appSays([['click_input', { id: '7', name: 'Send' }]])),
  said(testing.appEnds('FAIL', 'the window is another one')),
  said(testing.hostSays({ status: 'FAIL', result: 'not sent' })),
];

const failed = (message: string): CommandOutcome => ({
  ...outcomeOf('FAILED'),
  error: { code: 'FAILED', message, outcome: 'failed' },
});

/** A mail program; what it is asked to click on is not there any more when it is. */
function answerOf({ command }: RunCommandRequest): CommandOutcome {
  switch (command.tool) {
    case 'get_desktop_app_target_info':
      return outcomeOf('COMPLETED', [testing.window('1', 'notes - Mousepad')]);
    case 'select_application_window':
      return outcomeOf('COMPLETED', { root_name: 'mousepad', window_info: { title: 'notes - Mousepad' } });
    case 'get_app_window_info':
      return outcomeOf('COMPLETED', { control_text: 'notes - Mousepad', control_rect: [100, 50, 900, 650] });
    case 'get_app_window_controls_target_info':
      return outcomeOf('COMPLETED', { result: [SEND], listing: 'k3.1' });
    case 'capture_window_screenshot':
    case 'capture_desktop_screenshot':
      return {
        ...outcomeOf('COMPLETED', { pictures: [{ of: 'window', width: 800, height: 600 }] }),
        files: [{ name: 'window.png', mediaType: 'image/png', artifact: { sha256: SHA256, bytes: PNG.length } }],
      };
    default:
      return failed('WINDOW_CHANGED: another window is in front');
  }
}

async function asked(isKept = true) {
  const world = new AgentWorld(SCRIPT);
  if (isKept) world.world.stored.set(SHA256, PNG);
  world.device.respond = answerOf;
  const allowing = testPolicy();
  const policy: typeof allowing = {
    ...allowing,
    judge: (call, ...more) => ({
      ...allowing.judge(call, ...more),
      ...(call.tool === 'click_input' && { decision: 'approve', class: 'destructive', rule: 'screen.commit' }),
    }),
  };
  const { kind } = testing.spiedScreen(true);
  const agent = world.agent({ kinds: [kind], policy });
  agent.profile = profileOf({ agent: kind.name, os: 'windows', tools: [...testing.SCREEN_TOOLS] });
  await world.world.record(world.run);
  const handled = agent.starts.handle(messageOf(world.commit));
  return { world, agent, handled, ask: await world.asked() };
}

describe('a person who is asked about a button', () => {
  it('sees it in its window, marked, and what it is; what he approves is refused in another window', async () => {
    const { world, agent, handled, ask } = await asked();
    expect(ask).toMatchObject({
      kind: 'approval',
      command: {
        tool: 'click_input',
        on: {
          application: 'mousepad',
          window: 'notes - Mousepad',
          control: { id: '7', type: 'Button', name: 'Send' },
          snapshot: 'k3.1',
        },
      },
    });
    const picture = 'picture' in ask ? ask.picture : undefined;
    const stored = world.world.stored.get(picture?.sha256 ?? '');
    expect(stored?.length).toBe(picture?.bytes);
    // 80 x 20 points of the button, with what is around it as far as the window goes.
    expect(readPng(stored ?? new Uint8Array())).toMatchObject({ picture: { width: 360, height: 200 } });

    world.run.ask(ask);
    const decided = world.run.decide({ approvalId: ask.approvalId, decision: 'approved' });
    await world.world.record(world.run);
    await agent.control.handle(messageOf(decided));
    await handled;
    const sent = world.device.requests.flatMap((one) => (one.kind === 'run' ? [one.command] : []));
    const clicks = sent.filter(({ tool }) => tool === 'click_input');
    expect(clicks).toEqual([ask.kind === 'approval' ? ask.command : null]);
    const [finished] = (await world.facts('COMMAND_FINISHED')).filter(({ commandId }) => commandId === ask.approvalId);
    expect(finished?.error?.message).toContain('WINDOW_CHANGED');
    expect(await world.violations()).toEqual([]);
    expect(await world.end()).toMatchObject({ status: 'failed' });
  });

  it('is asked in words when the picture is gone', async () => {
    const { agent, handled, ask } = await asked(false);
    expect(ask).toMatchObject({ kind: 'approval', command: { on: { control: { name: 'Send' } } } });
    expect(ask).not.toHaveProperty('picture');
    agent.live.leave();
    await handled;
  });
});
