import { ConstellationServerEndpoint, decodeClientMessage } from '#libs/aip';
import type { ClientMessage, ServerMessage } from '#proto';
import { CLIENT, IDENTITY } from './corpus.js';
import { checked, outcomeOf } from './device-server.target.js';
import type { FuzzFrame, Recipe } from './generator.js';
import { hold, type Act, type Subject, type Target, type Verdict } from './subject.js';
import { Wire } from './wire.js';

const RECIPES: Readonly<Record<string, Omit<Recipe, 'sender' | 'numbered'>>> = {
  AWAITING_REGISTER: { fitting: ['register'] },
  CHECKING: { fitting: ['heartbeat', 'task'] },
  READY: { fitting: ['task', 'task', 'heartbeat', 'device_info_request', 'error', 'task_end'] },
  'READY with tasks': { fitting: ['task', 'task', 'task', 'heartbeat', 'device_info_request'] },
};

/** The server's end of a constellation client's connection, with a client that sends anything. */
export const CONSTELLATION_SERVER: Target = {
  name: 'constellation-server',
  stages: Object.keys(RECIPES),
  recipe: (stage) => ({ sender: 'constellation', numbered: false, ...(RECIPES[stage] ?? { fitting: [] }) }),
  acts: [
    ...Array.from({ length: 6 }, () => 'tick'),
    ...Array.from({ length: 6 }, () => 'target'),
    ...Array.from({ length: 6 }, () => 'submitted'),
    ...Array.from({ length: 4 }, () => 'ended'),
    ...Array.from({ length: 3 }, () => 'info'),
    'revoked',
    'shutdown',
    'cut',
  ],
  open: (stage) => new ConstellationSubject().at(stage),
};

const ANSWERED: ReadonlySet<ClientMessage['type']> = new Set(['register', 'heartbeat']);
const SESSION_ID_CHARS_MAX = 256;

/** A TASK that came, by the name under which its end is waited for. */
interface Tasks {
  given: number;
  ends: number;
}

class ConstellationSubject implements Subject {
  readonly #wire = new Wire();
  readonly #endpoint: ConstellationServerEndpoint;
  readonly #lookUps: (string | null)[] = [];
  readonly #submitted: string[] = [];
  readonly #followed: string[] = [];
  readonly #infos: { readonly deviceId: string; readonly requestId: string | null }[] = [];
  /** Submitted, not ended, not cancelled. */
  readonly #atWork = new Set<string>();
  readonly #accepted = new Set<string>();
  readonly #tasks = new Map<string, Tasks>();
  #calls = 0;
  #nowMs = 1_800_000_000_000;
  #left = false;
  #runs = 0;

  constructor() {
    const called = (name: string): void => {
      hold(!this.#left, `${name} was called after the session was over`);
      this.#calls++;
    };
    this.#endpoint = new ConstellationServerEndpoint({
      identity: { id: CLIENT, targets: [IDENTITY], expiresAt: null },
      transport: this.#wire,
      clock: { now: () => this.#nowMs },
      port: {
        lookUp: ({ sessionId }) => {
          called('lookUp');
          this.#lookUps.push(sessionId);
        },
        submit: ({ task: { sessionId, deviceId } }) => {
          called('submit');
          hold(deviceId === IDENTITY, `a task was submitted for ${deviceId}, which the client may not use`);
          hold(!this.#atWork.has(sessionId), `${sessionId} was submitted twice`);
          this.#atWork.add(sessionId);
          this.#submitted.push(sessionId);
        },
        follow: ({ sessionId }) => {
          called('follow');
          this.#followed.push(sessionId);
        },
        cancel: ({ sessionId }) => {
          this.#calls++;
          hold(this.#atWork.delete(sessionId), `${sessionId} was cancelled and was not at work`);
        },
        deviceInfo: ({ deviceId, requestId }) => {
          called('deviceInfo');
          this.#infos.push({ deviceId, requestId });
        },
        left: () => {
          called('left');
          this.#left = true;
        },
        closed: () => undefined,
      },
      watch: { log: () => undefined, count: () => undefined },
    });
  }

  at(stage: string): this {
    if (stage === 'AWAITING_REGISTER') return this;
    const base = { status: 'ok', client_type: 'constellation' };
    const target = stage === 'CHECKING' ? { target_id: IDENTITY } : {};
    this.receive({ text: JSON.stringify({ ...base, type: 'register', ...target }) });
    if (stage !== 'READY with tasks') return this;
    for (const session of ['s-1', 's-2', 's-3']) {
      this.receive({
        text: JSON.stringify({ ...base, type: 'task', session_id: session, target_id: IDENTITY, request: 'do it' }),
      });
    }
    for (const value of [0, 0]) this.act({ kind: 'act', name: 'target', value });
    this.act({ kind: 'act', name: 'submitted', value: 0 });
    return this;
  }

  get state(): string {
    const { phase } = this.#endpoint;
    return phase === 'READY' && this.#atWork.size > 0 ? 'READY with tasks' : phase;
  }

  get isOver(): boolean {
    return this.#wire.isOver;
  }

  receive({ text }: Pick<FuzzFrame, 'text'>): Verdict {
    const { state } = this;
    const wasOver = this.isOver;
    const decoded = decodeClientMessage(text);
    const [sentBefore, callsBefore] = [this.#wire.sent.length, this.#calls];
    const session = decoded.ok ? sessionOf(decoded.message) : unreadableSession(text);
    if (session !== undefined && !wasOver) this.#tasksOf(session).given++;
    this.#wire.receive(text);
    const sent = this.#take(sentBefore);
    const calls = this.#calls - callsBefore;
    if (wasOver) {
      hold(sent.length === 0 && calls === 0, 'a frame after the end had an effect');
      return { state: 'CLOSED', outcome: 'after the end', isMessage: decoded.ok };
    }
    const outcome = outcomeOf(
      sent,
      Array.from({ length: calls }, () => ''),
      this.isOver,
    );
    if (!decoded.ok)
      hold(outcome === 'refused' || outcome === 'closed', `a wrong frame was ${outcome}: ${decoded.error}`);
    else if (ANSWERED.has(decoded.message.type)) hold(outcome !== 'silent', `${decoded.message.type} was not answered`);
    this.#checkState();
    return { state, outcome, isMessage: decoded.ok };
  }

  act({ name, value }: Act): void {
    if (this.isOver && name !== 'tick') return;
    const sentBefore = this.#wire.sent.length;
    this.#perform(name, value);
    this.#take(sentBefore);
    this.#checkState();
  }

  /** Everything that is open comes to its end: then each TASK has had its TASK_END, and nothing is left at work. */
  end(): void {
    const rounds = this.#lookUps.length + this.#submitted.length + this.#followed.length + this.#infos.length;
    for (let round = 0; round <= 3 * rounds && !this.isOver; round++) {
      for (const name of ['target', 'submitted', 'ended', 'info']) this.act({ kind: 'act', name, value: 0 });
    }
    for (const [session, { given, ends }] of this.#tasks) {
      hold(given === 0 || ends > 0 || this.#wasCut, `TASK ${session} has no TASK_END`);
      hold(ends <= given, `${given} TASKs of ${session} have ${ends} TASK_ENDs`);
    }
    this.#wire.end();
    hold(this.#endpoint.phase === 'CLOSED' && this.#left, 'the session outlives its socket');
    hold(this.#atWork.size === 0, `nobody cancelled ${[...this.#atWork].join(', ')}`);
  }

  #wasCut = false;

  #perform(name: string, value: number): void {
    const endpoint = this.#endpoint;
    switch (name) {
      case 'tick':
        this.#nowMs += Math.floor(value * value * value * 20_000);
        return endpoint.tick();
      case 'target': {
        const sessionId = this.#lookUps.shift();
        if (sessionId === undefined) return;
        return endpoint.input({
          kind: 'target',
          sessionId,
          state: value < 0.7 ? 'connected' : value < 0.9 ? 'not-connected' : 'unknown',
        });
      }
      case 'submitted': {
        const sessionId = this.#submitted.shift();
        if (sessionId === undefined) return;
        if (value < 0.7) {
          this.#accepted.add(sessionId);
          return endpoint.input({ kind: 'accepted', sessionId, runId: `run-${++this.#runs}` });
        }
        this.#atWork.delete(sessionId);
        return endpoint.input({ kind: 'refused', sessionId, error: 'no room for more runs' });
      }
      case 'ended': {
        const sessionId = this.#followed.shift();
        if (sessionId === undefined) return;
        this.#atWork.delete(sessionId);
        const end = { status: value < 0.5 ? 'completed' : 'failed', result: 'done', error: null } as const;
        return endpoint.input({ kind: 'ended', sessionId, ...end });
      }
      case 'info': {
        const asked = this.#infos.shift();
        return (
          asked && endpoint.input({ kind: 'device-info', ...asked, info: value < 0.5 ? { platform: 'linux' } : null })
        );
      }
      case 'revoked':
        return value < 0.3 ? endpoint.revoke() : undefined;
      case 'shutdown':
        return value < 0.3 ? endpoint.shutDown() : undefined;
      case 'cut':
        if (value >= 0.3) return;
        this.#wasCut = true;
        return this.#wire.end();
    }
  }

  /** What was sent since; ends are counted. */
  #take(from: number): ServerMessage[] {
    const sent = this.#wire.sent.slice(from).map(checked);
    for (const message of sent) {
      const acknowledged = message.type === 'heartbeat' ? (message.session_id ?? null) : null;
      hold(
        acknowledged === null || this.#accepted.has(acknowledged),
        `TASK ${acknowledged ?? ''} was acknowledged early`,
      );
      if (message.type !== 'task_end') continue;
      const session = message.session_id ?? '';
      const known = this.#tasks.has(session) ? session : UNNAMED;
      this.#tasksOf(known).ends++;
    }
    return sent;
  }

  #tasksOf(session: string): Tasks {
    const tasks = this.#tasks.get(session) ?? { given: 0, ends: 0 };
    this.#tasks.set(session, tasks);
    return tasks;
  }

  #checkState(): void {
    const { phase } = this.#endpoint;
    hold(this.isOver === (phase === 'CLOSED'), `the socket is ${this.isOver ? 'over' : 'open'} in ${phase}`);
    hold(this.#left === (phase === 'CLOSED'), `left is ${this.#left} in ${phase}`);
  }
}

const UNNAMED = '';

function sessionOf(message: ClientMessage): string | undefined {
  return message.type === 'task' ? (message.session_id ?? UNNAMED) : undefined;
}

/** Of a frame that is a TASK and no message; the last of several equal keys counts. */
function unreadableSession(text: string | null): string | undefined {
  try {
    const json: unknown = JSON.parse(text ?? '');
    if (typeof json !== 'object' || json === null || !('type' in json) || json.type !== 'task') return undefined;
    const session = 'session_id' in json ? json.session_id : undefined;
    const isName = typeof session === 'string' && session !== '' && session.length <= SESSION_ID_CHARS_MAX;
    return isName ? session : undefined;
  } catch {
    return undefined;
  }
}
