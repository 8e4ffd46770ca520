import { setTimeout as pause } from 'node:timers/promises';
import { testing } from '#libs/device-agent';
import { startModelServer, type ModelServer, type ModelServerReply, type ModelServerRequest } from '#libs/testing';
import type { Json, ScreenAppReply } from '#proto';
import type { Shown } from './rig.js';

/** What stands in a prompt of an agent of a screen. */
export class Seen {
  readonly prompt: string;
  readonly isHost: boolean;
  /** What is listed now: windows for the host, controls for the other. */
  readonly listed: readonly Shown[];
  /** How often this turn was asked for already. */
  readonly times: number;

  constructor({ prompt }: ModelServerRequest, times: number) {
    this.prompt = prompt;
    this.times = times;
    this.isHost = prompt.includes('You are HostAgent');
    const heading = this.isHost ? 'Windows that can be chosen:' : 'Its controls:';
    const lines = prompt.slice(prompt.lastIndexOf(heading)).split('\n').slice(1);
    this.listed = lines.flatMap((line) => (line.startsWith('{"id":') ? [JSON.parse(line) as Shown] : []));
  }

  /** The one of this type whose name begins so; undefined: it is not there. */
  named(type: string, name: string): Shown | undefined {
    return this.listed.find((one) => one.type === type && one.name.startsWith(name));
  }

  window(title: string): Shown | undefined {
    return this.listed.find((one) => one.name.includes(title));
  }
}

/** What the model says when it sees this; undefined: what it waits for is not there yet, and it looks again. */
export type DeskTurn = (seen: Seen) => Json | undefined | Promise<Json | undefined>;

const jsonOf = (reply: ScreenAppReply): Json => reply as unknown as Json;

/** Nothing is done, and the window is looked at again. */
export const looksAgain = jsonOf(testing.appSays([['', {}, 'SCREENSHOT']]));

/** Nothing is done, and the desktop is looked at again; the same call with the same answer would end the attempt. */
const hostLooksAgain = (times: number): Json =>
  testing.hostSays({ function: 'WRITE_BOARD', arguments: { name: 'looks', value: times } });

/**
 * A model that works at a desktop by stories: the one whose `story-<name>` stands in the prompt. A turn is over when it has something
 * to say, so that a slow machine only looks more often. What it says is made of what it sees, as with a model.
 */
export class DeskModel {
  readonly #server: ModelServer;
  readonly #stories = new Map<string, readonly DeskTurn[]>();
  readonly #places = new Map<string, { turn: number; times: number }>();
  readonly #plans = new Map<string, ModelServerReply[]>();

  private constructor(server: ModelServer) {
    this.#server = server;
    server.reply((request) => this.#say(request));
  }

  static async start(): Promise<DeskModel> {
    return new DeskModel(await startModelServer({ key: KEY }));
  }

  get env(): NodeJS.ProcessEnv {
    return { OPENAI_BASE_URL: this.#server.url, OPENAI_API_KEY: KEY, ORRERY_MODEL: 'desk-model' };
  }

  get prompts(): readonly string[] {
    return this.#server.requests.map(({ prompt }) => prompt);
  }

  story(name: string, turns: readonly DeskTurn[]): void {
    this.#stories.set(name, turns);
  }

  /** What the planner says of the goal that has this story, one after the other; the last one for ever. */
  plan(name: string, replies: readonly ModelServerReply[]): void {
    this.#plans.set(name, [...replies]);
  }

  /** How far a story has come. */
  turnOf(name: string): number {
    return this.#places.get(name)?.turn ?? 0;
  }

  stop(): Promise<void> {
    return this.#server.stop();
  }

  async #say(request: ModelServerRequest): Promise<ModelServerReply> {
    const name = /story-([a-z]+)/u.exec(request.prompt)?.[1] ?? '';
    const plan = this.#plans.get(name) ?? [];
    const [next] = plan;
    if (next !== undefined && !/You are (?:Host|App)Agent/u.test(request.prompt)) {
      if (plan.length > 1) plan.shift();
      return next;
    }
    const turns = this.#stories.get(name) ?? [];
    const place = this.#places.get(name) ?? { turn: 0, times: 0 };
    const seen = new Seen(request, place.times);
    const said = await turns[Math.min(place.turn, turns.length - 1)]?.(seen);
    this.#places.set(
      name,
      said === undefined ? { ...place, times: place.times + 1 } : { turn: place.turn + 1, times: 0 },
    );
    // Who waits for a window looks every now and then: an attempt has only so many steps.
    if (said === undefined) await pause(LOOKS_EVERY_MS);
    return { json: said ?? (seen.isHost ? hostLooksAgain(place.times) : looksAgain) };
  }
}

const KEY = 'sk-of-the-desk-model';
const LOOKS_EVERY_MS = 300;

type Arguments = Record<string, Json>;

/** The host starts a program. */
export const starts =
  (name: string, more: Arguments = {}): DeskTurn =>
  () =>
    testing.hostSays({ function: 'launch_application', arguments: { name, ...more } });

/** The host gives a part of the task to whoever works in the window whose title has this. */
export const assigns =
  (title: string, subtask: string): DeskTurn =>
  (seen) => {
    const window = seen.window(title);
    return window && testing.hostAssigns(subtask, window.id, window.name);
  };

export const hostEnds =
  (result: string, status: 'FINISH' | 'FAIL' = 'FINISH'): DeskTurn =>
  () =>
    testing.hostSays({ status, result });

/** The host gives a part to another device, and says what was done until then. */
export const handsOver =
  (to: string, subtask: string, result: string): DeskTurn =>
  () =>
    testing.hostSays({
      status: 'ASSIGN',
      function: 'HAND_OVER',
      arguments: { to },
      current_subtask: subtask,
      result,
    });

/** One act on the control of this type and name, when it is there. */
export const acts =
  (tool: string, [type, name]: readonly [type: string, name: string], more: Arguments = {}): DeskTurn =>
  (seen) => {
    const control = seen.named(type, name);
    return control && actsOn(tool, { id: control.id, name: control.name, ...more });
  };

/** The same, and a person has to say that it may be done. */
export const confirms =
  (tool: string, [type, name]: readonly [type: string, name: string], thought: string): DeskTurn =>
  (seen) => {
    const control = seen.named(type, name);
    if (control === undefined) return undefined;
    const { id } = control;
    return jsonOf({ ...testing.appSays([[tool, { id, name: control.name }, 'CONFIRM']]), thought });
  };

/** One act, whatever is there. */
export const actsOn = (tool: string, args: Arguments): Json => jsonOf(testing.appSays([[tool, args]]));

/** The same, and a person has to say that it may be done. */
export const confirmsOn = (tool: string, args: Arguments): Json => jsonOf(testing.appSays([[tool, args, 'CONFIRM']]));

/** Keys for whatever has the focus in the window. */
export const presses =
  (keys: string): DeskTurn =>
  () =>
    actsOn('keyboard_input', { id: '', name: '', keys, control_focus: false });

/** Only when the screen shows this. */
export const when =
  (is: (seen: Seen) => boolean, turn: DeskTurn): DeskTurn =>
  (seen) =>
    is(seen) ? turn(seen) : undefined;

export const appEnds =
  (result: string, status: 'FINISH' | 'FAIL' = 'FINISH'): DeskTurn =>
  () =>
    jsonOf(testing.appEnds(status, result));

/** The host waits until it sees this. */
export const hostSees = when;

/** The host asks a person. */
export const asksHost =
  (question: string): DeskTurn =>
  () =>
    testing.hostSays({ status: 'PENDING', questions: [question] });

/** Whoever works in the editor puts this text there, in place of what is there. */
export const puts = (text: string): DeskTurn => acts('set_edit_text', ['Edit', ''], { text, clear_current_text: true });

/** The title of the editor says so when everything is in the file. */
export const saved = (file: string): DeskTurn =>
  when(({ prompt }) => prompt.includes(`"window":"~/${file} - Mousepad"`), appEnds('It is saved.'));
