import { startModelServer, type ModelServer, type ModelServerReply, type ModelServerRequest } from '#libs/testing';
import type { Json, LinuxAgentStatus } from '#proto';

/** What the model says in one turn of a story: fixed, or made of what it was asked. */
export type Turn = ModelServerReply | ((request: ModelServerRequest) => ModelServerReply | Promise<ModelServerReply>);

/**
 * A model that plays stories: the one whose word `story-<name>` stands in the prompt, one turn per request; the last turn is
 * said for ever. A planner is told of its own by `plan-<name>` in the goal, whatever its tasks are about. A story whose name is a
 * sentence is played where that sentence stands in the prompt; the first of several counts.
 */
export class StoryModel {
  readonly #server: ModelServer;
  #stories: Readonly<Record<string, readonly Turn[]>>;
  readonly #turns = new Map<string, ModelServerRequest[]>();

  private constructor(server: ModelServer, stories: Readonly<Record<string, readonly Turn[]>>) {
    this.#server = server;
    this.#stories = stories;
    server.reply((request) => this.#say(request));
  }

  static async start(stories: Readonly<Record<string, readonly Turn[]>>): Promise<StoryModel> {
    return new StoryModel(await startModelServer({ key: KEY }), stories);
  }

  /** More stories, before anybody asks for them. */
  add(stories: Readonly<Record<string, readonly Turn[]>>): void {
    this.#stories = { ...this.#stories, ...stories };
  }

  /** What whoever starts a system sets, so that its agents ask this model. */
  get env(): NodeJS.ProcessEnv {
    return { OPENAI_BASE_URL: this.#server.url, OPENAI_API_KEY: KEY, ORRERY_MODEL: 'story-model' };
  }

  /** The requests of one story, in order. */
  asked(story: string): readonly ModelServerRequest[] {
    return this.#turns.get(story) ?? [];
  }

  get prompts(): readonly string[] {
    return this.#server.requests.map(({ prompt }) => prompt);
  }

  stop(): Promise<void> {
    return this.#server.stop();
  }

  #say(request: ModelServerRequest): ModelServerReply | Promise<ModelServerReply> | undefined {
    const { prompt } = request;
    const sentence = Object.keys(this.#stories).find((name) => name.includes(' ') && prompt.includes(name));
    const story = sentence ?? /plan-[a-z]+/u.exec(prompt)?.[0] ?? /story-([a-z]+)/u.exec(prompt)?.[1] ?? '';
    const turns = this.#stories[story];
    if (turns === undefined) return { fault: 'status', status: 400, message: `there is no story "${story}"` };
    const before = this.#turns.get(story) ?? [];
    this.#turns.set(story, [...before, request]);
    const turn = turns[Math.min(before.length, turns.length - 1)];
    return typeof turn === 'function' ? turn(request) : turn;
  }
}

export const KEY = 'sk-canary-of-the-model-key';

interface Said {
  readonly thought?: string;
  readonly notes?: readonly string[];
}

/** A turn that calls a tool and goes on. */
export function call(tool: string, args: Record<string, Json>, said: Said = {}): ModelServerReply {
  return reply({ function: tool, arguments: args, status: 'CONTINUE' }, '', said);
}

export const exec = (command: string, args: Record<string, Json> = {}, said: Said = {}): ModelServerReply =>
  call('EXEC_CLI', { command, ...args }, said);

/** A turn that ends the task. */
export function end(status: Exclude<LinuxAgentStatus, 'CONTINUE'>, result: string, said: Said = {}): ModelServerReply {
  return reply({ function: '', arguments: {}, status }, result, said);
}

function reply(action: Json, result: string, { thought = 'next', notes = [] }: Said): ModelServerReply {
  return { json: { observation: '', thought, action, plan: [], comment: '', notes: [...notes], result } };
}
