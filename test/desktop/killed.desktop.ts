// Device client, service and display, each killed at each state of an attempt: ./orrery test desktop
import { rm } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { testing } from '#libs/device-agent';
import type { Json } from '#proto';
import { until } from '../e2e/system.js';
import { DrivenDesktop } from './driven.js';
import { acts, appEnds, assigns, hostEnds, presses, type DeskTurn, type Seen } from './model.js';
import { whyNoDesktop, type DesktopRig } from './rig.js';

const reason = await whyNoDesktop();
/** Typed sign by sign, with looks between them; as long as a value is told whole. */
const LINE = `begins ${'x'.repeat(120)} ends`;
/** Where the editor keeps what it would ask about when it is started after a crash. */
const KEPT = '.local/share/Mousepad';

/** What the attempt is about to do. */
type Turn = 'assign' | 'type' | 'save' | 'hand back';

/** A state in which something is killed. */
interface State {
  readonly turn: Turn;
  /** Before the model says a word about that turn. */
  readonly thinks?: true;
  /** The act of that turn is one that a person is to confirm. */
  readonly confirms?: true;
  /** The editor does not answer from that turn on. */
  readonly hangs?: true;
  /** Resolves when it is there; after that turn. */
  readonly comes?: (story: Story) => Promise<unknown>;
}

const STATES: Readonly<Record<string, State>> = {
  'it looks': { turn: 'assign', hangs: true, comes: (story) => story.hasBegun(2) },
  'its model is asked': { turn: 'type', thinks: true },
  'a person is asked': { turn: 'type', confirms: true, comes: (story) => story.desktop.asked(story.runId) },
  'it acts': { turn: 'type', comes: (story) => story.hasBegun(1) },
  'its act is done and nobody has heard of it': { turn: 'type', comes: (story) => story.isUnheard() },
  'the screen has not come to rest after its act': { turn: 'save', comes: (story) => story.isWritten() },
  'it hands back to its host': { turn: 'hand back', thinks: true },
};

type Victim = (desktop: DrivenDesktop, file: string) => Promise<void>;

const VICTIMS: Readonly<Record<string, Victim>> = {
  'device client': async (desktop) => {
    await desktop.killClient();
    await desktop.client();
  },
  service: (desktop) => desktop.system.kill9('device-agent'),
  display: async ({ rig }, file) => {
    await rig.anotherDisplay();
    await opens(rig, file);
  },
};

async function opens(rig: DesktopRig, file: string): Promise<void> {
  await rm(rig.file(KEPT), { recursive: true, force: true });
  rig.start('mousepad', ['--disable-server', rig.file(file)]);
}

const names = Object.keys(STATES).flatMap((state) => Object.keys(VICTIMS).map((victim) => [victim, state] as const));

/** One attempt to write one line into a file and save it, by a model that does what is left to do when it looks. */
class Story {
  readonly desktop: DrivenDesktop;
  readonly file: string;
  readonly #state: State;
  readonly #kills: () => Promise<void>;
  readonly #turn = Promise.withResolvers<void>();
  /** What the editor showed each time. */
  readonly texts: string[] = [];
  runId = '';
  #isSaved = false;
  #isKilled = false;
  #killing: Promise<void> | undefined;
  #isReached = false;
  #before: readonly string[] = [];
  #hanging: readonly number[] = [];

  constructor(desktop: DrivenDesktop, file: string, { state, victim }: { state: State; victim: Victim }) {
    this.desktop = desktop;
    this.file = file;
    this.#state = state;
    this.#kills = () => victim(desktop, file);
  }

  /** To its end, with what is killed on the way. */
  async told(name: string) {
    this.desktop.model.story(name, [(seen) => this.#say(seen)]);
    this.runId = await this.desktop.send(name);
    const { comes } = this.#state;
    if (comes !== undefined) {
      await this.#turn.promise;
      await comes(this);
      await this.#kill();
    }
    return this.desktop.approved(this.runId);
  }

  /** So many commands have been started since the turn; the last may have ended on a fast machine, which is another state then. */
  hasBegun(count: number): Promise<true> {
    return until('a command at the device', async () => {
      const { started } = await this.#journal();
      return started.filter((id) => !this.#before.includes(id)).length >= count ? true : undefined;
    });
  }

  /** The service stands still while the device does what it was told, and does not hear that it is done. */
  async isUnheard(): Promise<void> {
    await this.hasBegun(1);
    signal(await this.desktop.system.pidOf('device-agent'), 'SIGSTOP');
    await until('an act that is done', async () => {
      const { started, ended } = await this.#journal();
      return started.every((id) => ended.has(id)) ? true : undefined;
    });
  }

  isWritten(): Promise<true> {
    return until(`the file ${this.file}`, async () =>
      (await this.desktop.rig.text(this.file)).trimEnd() === LINE ? true : undefined,
    );
  }

  #kill(): Promise<void> {
    this.#killing = this.#killed();
    return this.#killing;
  }

  async #killed(): Promise<void> {
    this.#isKilled = true;
    await this.#kills();
    for (const pid of this.#hanging) signal(pid, 'SIGCONT');
    // Who was killed is another process by now; who was only stopped goes on.
    signal(await this.desktop.system.pidOf('device-agent'), 'SIGCONT');
  }

  async #journal(): Promise<{ readonly started: readonly string[]; readonly ended: ReadonlySet<string> }> {
    const journal = await this.desktop.rig.text('device/commands.journal');
    const ids = (type: string): string[] =>
      [...journal.matchAll(new RegExp(`"type":"${type}","id":"([^"]+)"`, 'gu'))].map(([, id = '']) => id);
    return { started: ids('started'), ended: new Set([...ids('finished'), ...ids('stored')]) };
  }

  /** While something is being killed the model says nothing: a model takes its time, too. */
  async #say(seen: Seen): Promise<Json | undefined> {
    await this.#killing;
    const [turn, next] = this.#next(seen);
    if (turn === this.#state.turn && !this.#isReached) {
      this.#isReached = true;
      // What is seen may be gone afterwards; it says what it would have said.
      await this.#reach();
    }
    return next(seen);
  }

  async #reach(): Promise<void> {
    if (this.#state.thinks === true) return this.#isKilled ? undefined : this.#kill();
    this.#before = (await this.#journal()).started;
    if (this.#state.hangs === true) {
      this.#hanging = await this.desktop.rig.processes('mousepad');
      for (const pid of this.#hanging) signal(pid, 'SIGSTOP');
    }
    this.#turn.resolve();
  }

  /** What is left to be done. */
  #next(seen: Seen): readonly [Turn | 'look', DeskTurn] {
    if (seen.isHost && this.#isSaved) return ['hand back', hostEnds('It is saved.')];
    if (seen.isHost) {
      const turn = assigns(this.file, 'Write the line and save it.');
      return [seen.window(this.file) === undefined ? 'look' : 'assign', turn];
    }
    const text = seen.named('Edit', '')?.value;
    if (text === undefined) return ['look', GONE.test(seen.prompt) ? appEnds('It is gone.', 'FAIL') : () => undefined];
    this.texts.push(text);
    if (text === '') return ['type', types(this.#state.confirms === true && !this.#isKilled)];
    if (text !== LINE) return ['look', acts('set_edit_text', ['Edit', ''], { text: LINE, clear_current_text: true })];
    if (!seen.prompt.includes(`"window":"~/${this.file} - Mousepad"`)) return ['save', presses('{VK_CONTROL}s')];
    this.#isSaved = true;
    return ['look', appEnds('It is saved.')];
  }
}

/** The window that was chosen is not to be had any more. */
const GONE = /NO_WINDOW|WINDOW_CHANGED|DISPLAY/u;

const types =
  (confirms: boolean): DeskTurn =>
  (seen) => {
    const field = seen.named('Edit', '');
    if (field === undefined) return undefined;
    const args = { id: field.id, name: field.name, keys: LINE };
    const said = testing.appSays([['keyboard_input', args, confirms ? 'CONFIRM' : 'CONTINUE']]);
    return said as unknown as Json;
  };

function signal(pid: number, what: NodeJS.Signals): void {
  try {
    process.kill(pid, what);
  } catch {
    // it has ended
  }
}

(reason === undefined ? describe : describe.skip)('what is killed under a DesktopAgent', () => {
  let desktop: DrivenDesktop;
  let stories = 0;

  beforeAll(async () => {
    desktop = await DrivenDesktop.start((rig) => ({
      mousepad: { command: '/usr/bin/mousepad', args: [], files: [rig.home] },
    }));
  });
  afterAll(() => desktop?.stop());

  it.each(names)('the %s while %s: nothing is done twice, and it looks before it goes on', async (victim, state) => {
    const killed = { state: STATES[state], victim: VICTIMS[victim] };
    if (killed.state === undefined || killed.victim === undefined) throw new Error(`no ${victim} or ${state}`);
    for (const pid of await desktop.rig.processes('mousepad')) signal(pid, 'SIGKILL');
    const name = `killed${'abcdefghijklmnopqrstuvwxyz'[stories] ?? ''}`;
    stories += 1;
    const file = `${name}.txt`;
    await desktop.rig.write(file, '');
    await opens(desktop.rig, file);
    const story = new Story(desktop, file, { state: killed.state, victim: killed.victim });
    const view = await story.told(name);
    expect([view.outcome, view.tasks[0]?.result?.value]).toEqual(['succeeded', 'It is saved.']);
    expect((await desktop.rig.text(file)).trimEnd()).toBe(LINE);
    // What the editor got: never the line, or the beginning of it, for a second time.
    for (const text of story.texts) expect(text.split('begins').length).toBeLessThanOrEqual(2);
    expect(story.texts.at(-1)).toBe(LINE);
    // The device keeps what it did: the end of its service leaves nothing unknown.
    const recorded = JSON.stringify(await desktop.system.json('steps', view.runId));
    expect(recorded.includes('OUTCOME_UNKNOWN') && victim === 'service').toBe(false);
  });
});
