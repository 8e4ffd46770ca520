// What is killed while an agent works at a desktop: ./orrery test desktop
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { isCollectorTool } from '#proto';
import { until } from '../e2e/system.js';
import { DrivenDesktop } from './driven.js';
import { acts, appEnds, assigns, hostEnds, presses, puts, saved, when, type Seen } from './model.js';
import { whyNoDesktop } from './rig.js';

const reason = await whyNoDesktop();
const TEXT = 'written once\n';
/** Typed sign by sign, with time between them: long enough to be killed in the middle of. */
const TYPED = 'x'.repeat(1_500);

const textIn = (seen: Seen): string => seen.named('Edit', '')?.value ?? '';

interface Recorded {
  readonly type: string;
  readonly data: {
    readonly command?: { readonly tool: string };
    readonly state?: string;
  };
}

(reason === undefined ? describe : describe.skip)('a DesktopAgent', () => {
  let desktop: DrivenDesktop;

  beforeAll(async () => {
    desktop = await DrivenDesktop.editor();
  });
  afterAll(() => desktop?.stop());

  /** What was done at the screen in a run, each with how it ended, in order; looks are none. */
  const actsOf = async (runId: string): Promise<readonly string[]> => {
    const { attempts } = await desktop.system.json<{ attempts: { events: Recorded[] }[] }>('steps', runId);
    const events = attempts.flatMap((attempt) => attempt.events);
    return events.flatMap(({ type, data: { command, state } }) =>
      type === 'COMMAND_FINISHED' && command !== undefined && !isCollectorTool(command.tool)
        ? [`${command.tool} ${state}`]
        : [],
    );
  };

  it('goes on where it was when the service that plays it is killed', async () => {
    await desktop.opens('service.txt');
    const kills = once(() => desktop.system.kill9('device-agent'));
    desktop.model.story('service', [
      assigns('service.txt', 'Write.'),
      puts(TEXT),
      async (seen) => ((await kills()) ? undefined : presses('{VK_CONTROL}s')(seen)),
      saved('service.txt'),
      hostEnds('done'),
    ]);
    const view = await desktop.told('service');
    expect(view.outcome).toBe('succeeded');
    await desktop.written('service.txt', TEXT);
    await expect(actsOf(view.runId)).resolves.toEqual([
      'select_application_window COMPLETED',
      'set_edit_text COMPLETED',
      'keyboard_input COMPLETED',
    ]);
  });

  it('types nothing twice when the device client is killed in the middle of it, and looks before it goes on', async () => {
    await desktop.opens('client.txt');
    let left = '';
    desktop.model.story('client', [
      assigns('client.txt', 'Write.'),
      acts('keyboard_input', ['Edit', ''], { keys: TYPED }),
      // What came of it nobody knows, and the new client has chosen no window: it is chosen again, and looked at.
      when(({ prompt }) => prompt.includes('OUTCOME_UNKNOWN'), appEnds('Nobody knows what was typed.', 'FAIL')),
      assigns('client.txt', 'See what is there, and write.'),
      (seen) => {
        left = textIn(seen);
        return puts(TEXT)(seen);
      },
      presses('{VK_CONTROL}s'),
      saved('client.txt'),
      hostEnds('done'),
    ]);
    const runId = await desktop.send('client');
    await until('keys that are being typed', async () => {
      const journal = await desktop.rig.text('device/commands.journal');
      const count = (what: string): number => journal.split(`"type":"${what}"`).length;
      return desktop.model.turnOf('client') === 2 && count('started') > count('finished') ? true : undefined;
    });
    await desktop.killClient();
    await desktop.client();
    expect((await desktop.system.untilEnd(runId)).outcome).toBe('succeeded');
    await desktop.written('client.txt', TEXT);
    expect(left.split('x').length - 1).toBeLessThanOrEqual(TYPED.length);
    await expect(actsOf(runId)).resolves.toEqual([
      'select_application_window COMPLETED',
      'keyboard_input OUTCOME_UNKNOWN',
      'select_application_window COMPLETED',
      'set_edit_text COMPLETED',
      'keyboard_input COMPLETED',
    ]);
  });

  it('is told that the display is gone, and does nothing any more', async () => {
    await desktop.opens('display.txt');
    desktop.model.story('display', [
      assigns('display.txt', 'Write.'),
      async (seen) => {
        for (const pid of await desktop.rig.processes('Xvfb')) process.kill(pid, 'SIGKILL');
        return puts(TEXT)(seen);
      },
      when(({ prompt }) => prompt.includes('FAILED'), appEnds('The display is gone.', 'FAIL')),
      hostEnds('The display is gone; nothing was written.', 'FAIL'),
    ]);
    const view = await desktop.told('display');
    expect(view.status).toBe('FAILED');
    await desktop.written('display.txt', 'as it was\n');
    await expect(actsOf(view.runId)).resolves.toEqual(['select_application_window COMPLETED', 'set_edit_text FAILED']);
  });
});

/** True for who was first. */
function once(act: () => Promise<unknown>): () => Promise<boolean> {
  let done = false;
  return async () => {
    if (done) return false;
    done = true;
    await act();
    return true;
  };
}
