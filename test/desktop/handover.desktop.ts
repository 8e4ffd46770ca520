// A person takes a screen over and hands it back, and who carries that out is killed each time: ./orrery test desktop
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Json } from '#proto';
import { until } from '../e2e/system.js';
import { DESK, DrivenDesktop } from './driven.js';
import { appEnds, assigns, hostEnds, presses, puts, type Seen } from './model.js';
import { whyNoDesktop } from './rig.js';

const reason = await whyNoDesktop();
const TEXT = 'begins and ends\n';
/** The window that was chosen is not to be had any more. */
const GONE = /NO_WINDOW|WINDOW_CHANGED|DISPLAY/u;

const ofSystem = (part: string) => (desktop: DrivenDesktop) => desktop.system.kill9(part);

const VICTIMS: Readonly<Record<string, (desktop: DrivenDesktop) => Promise<void>>> = {
  'device client': async (desktop) => {
    await desktop.killClient();
    await desktop.client();
  },
  gateway: ofSystem('aip-gateway'),
  service: ofSystem('device-agent'),
  registry: ofSystem('registry'),
  console: ofSystem('console'),
};

interface Recorded {
  readonly type: string;
  readonly data: { readonly command?: { readonly tool: string } };
}

(reason === undefined ? describe : describe.skip)('a hand-over', () => {
  let desktop: DrivenDesktop;
  let stories = 0;

  beforeAll(async () => void (desktop = await DrivenDesktop.editor()));
  afterAll(() => desktop?.stop());

  /** The commands that the device has begun: a journal that is opened anew has only the ids of those whose ends are stored. */
  const begun = async (): Promise<readonly string[]> => {
    const journal = await desktop.rig.text('device/commands.journal');
    const found = journal.matchAll(/"type":"(?:started|stored)","id":"([^"]+)"/gu);
    return [...new Set([...found].map(([, id = '']) => id))].toSorted();
  };

  /** Whether a command of this tool was given to the device. */
  const isIssued = async (runId: string, tool: string): Promise<true | undefined> => {
    const { attempts } = await desktop.system.json<{ attempts: { events: Recorded[] }[] }>('steps', runId);
    const events = attempts.flatMap((attempt) => attempt.events);
    return events.some(({ type, data }) => type === 'COMMAND_ISSUED' && data.command?.tool === tool) ? true : undefined;
  };

  /** Who has the screen after this word, which changes nothing where it is so already; who answers may have been killed a moment ago. */
  const says = (word: 'take-over' | 'hand-back'): Promise<{ readonly changed: boolean; readonly taken: unknown }> =>
    until(word, async () => {
      const reason = word === 'take-over' ? ['--reason', 'a look'] : [];
      const said = await desktop.system.json<{ changed: boolean; taken?: unknown }>('devices', word, DESK, ...reason);
      return said.taken === undefined ? undefined : { changed: said.changed, taken: said.taken };
    });

  it.each(Object.entries(VICTIMS))(
    'lets no agent act while a person has the screen, and none on what it saw before, when the %s is killed after each event',
    async (_, kill) => {
      const name = `over${'abcdefghij'[stories] ?? ''}`;
      stories += 1;
      const file = `${name}.txt`;
      await desktop.opens(file);
      const taken = Promise.withResolvers<void>();
      let isBegun = false;
      let isSaved = false;
      let before: readonly string[] = [];
      const seenTexts: string[] = [];
      desktop.model.story(name, [
        async (seen: Seen): Promise<Json | undefined> => {
          if (seen.isHost) return isSaved ? hostEnds('It is saved.')(seen) : assigns(file, 'Write and save.')(seen);
          const text = seen.named('Edit', '')?.value;
          if (text === undefined) return GONE.test(seen.prompt) ? appEnds('It is gone.', 'FAIL')(seen) : undefined;
          seenTexts.push(text);
          if (text === TEXT.trimEnd() || text === TEXT) {
            if (!seen.prompt.includes(`"window":"~/${file} - Mousepad"`)) return presses('{VK_CONTROL}s')(seen);
            isSaved = true;
            return appEnds('It is saved.')(seen);
          }
          if (!isBegun) {
            isBegun = true;
            // It has looked, and decides: a person takes the screen, and what follows from that is left to others.
            await says('take-over');
            before = await begun();
            await kill(desktop);
            taken.resolve();
          }
          return puts(TEXT)(seen);
        },
      ]);
      const runId = await desktop.send(name);
      await taken.promise;
      await until('an act that is to be done', () => isIssued(runId, 'set_edit_text'));
      expect(await says('take-over')).toMatchObject({ changed: false, taken: { reason: 'a look' } });
      expect(await desktop.rig.text(file)).toBe('as it was\n');
      const then = await begun();
      expect(then).toEqual(before);
      expect(await says('hand-back')).toMatchObject({ taken: null });
      await kill(desktop);
      expect((await desktop.approved(runId)).outcome).toBe('succeeded');
      await desktop.written(file, TEXT);
      // It has looked again before it acted.
      expect((await begun()).length).toBeGreaterThan(then.length + 1);
      expect(seenTexts.filter((text) => text.startsWith('as it was')).length).toBeGreaterThan(1);
      expect(await says('hand-back')).toEqual({ changed: false, taken: null });
      const told = JSON.stringify(await desktop.system.json('steps', runId));
      expect(told).not.toContain('OUTCOME_UNKNOWN');
    },
  );
});
