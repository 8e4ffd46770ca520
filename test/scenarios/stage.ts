import { type Actor, type AgentProfile, NO_USAGE, type RunEvent } from '#proto';
import {
  type Answer,
  checkBudget,
  checkEdit,
  checkInvariants,
  decide,
  emptyRun,
  evolve,
  findTask,
  foldEvents,
  type Input,
  isTerminal,
  plus,
  type Run,
  viewOf,
  withVerbs,
} from '#libs/constellation';
import { device, fleet, T0, tell } from '../../libs/constellation/testing/given.js';
import { askOf, wordOf } from './approval-words.js';
import { amountsOf, goalOf, planOf } from './plan-words.js';
import { proposalOf } from './proposal-words.js';

const ALICE = { kind: 'person', id: 'alice' } as const;
const PLANNER = { kind: 'system', id: 'planner' } as const;
const HASH = 'a'.repeat(64);
const ONE_CALL = { ...NO_USAGE, llmCalls: 1 };

/**
 * Plays a story with the real decisions. Every command is decided on its own, those joined by ` & ` together; after each
 * the invariants are checked, and that the recorded facts alone lead to the same state.
 */
export class Stage {
  #run: Run = emptyRun('run-1');
  #now = T0;
  readonly #events: RunEvent[] = [];
  readonly #devices = new Map<string, AgentProfile>();
  #verbs = 0;
  #agents: ReadonlySet<string> = new Set(['LinuxAgent']);

  /** What is recorded, an event per line, what is refused, and what the run waits for then. */
  play(commands: readonly string[]): string[] {
    const told = commands.flatMap((line) => this.#command(line.trim()));
    return [...told, ...(this.#run.phase === 'NONE' ? [] : [this.#state()])];
  }

  #command(line: string): string[] {
    const [word = '', ...rest] = line.split(' ');
    const offset = /^\+(?<amount>\d+)(?<unit>ms|s|m)$/u.exec(word)?.groups;
    if (offset !== undefined) {
      this.#now += Number(offset['amount']) * ({ ms: 1, s: 1_000, m: 60_000 }[offset['unit'] ?? ''] ?? 0);
      return this.#decide([{ kind: 'wake' }]);
    }
    if (word === 'crash') {
      this.#run = { ...foldEvents(emptyRun('run-1'), this.#events), verbs: this.#run.verbs };
      return [];
    }
    if (this.#changeFleet(word, rest)) return this.#run.phase === 'NONE' ? [] : this.#decide([{ kind: 'wake' }]);
    return this.#decide(line.split(' & ').map((part) => this.#input(part.trim())));
  }

  #changeFleet(word: string, [id = '', ...options]: readonly string[]): boolean {
    const given = Object.fromEntries(options.map((option) => option.split('=') as [string, string]));
    const profile = this.#devices.get(id) ?? device(id);
    switch (word) {
      case 'device': {
        const { slots = '8', os = 'linux', tags } = given;
        this.#devices.set(id, device(id, { tasksMax: Number(slots), os, tags: tags?.split(',') ?? [] }));
        return true;
      }
      case 'lose':
        this.#devices.set(id, { ...profile, status: 'lost' });
        return true;
      case 'connect': {
        const { session } = profile;
        if (session === null) throw new Error(`${id} was never connected`);
        this.#devices.set(id, {
          ...profile,
          status: 'connected',
          session: { ...session, sessionId: `${id}-${this.#now}` },
        });
        return true;
      }
      case 'hold':
        this.#devices.set(id, { ...profile, held: { by: ALICE, reason: 'held', heldAt: new Date(T0).toISOString() } });
        return true;
      case 'agents':
        this.#agents = new Set([id, ...options].filter((name) => name !== 'none'));
        return true;
      case 'release':
        this.#devices.set(id, { ...profile, held: null });
        return true;
      default:
        return false;
    }
  }

  #input(text: string): Input {
    const [word = '', subject = '', detail] = text.split(' ');
    switch (word) {
      case 'plan':
        return { kind: 'submit', requested: planOf(text, this.#now) };
      case 'goal':
        return { kind: 'submit', requested: goalOf(text, this.#now) };
      case 'complete': {
        const value = text.split(' ').slice(2).join(' ');
        const result = { value: value === '' ? { exit_code: 0 } : JSON.parse(value) };
        return { ...this.#attempt(subject), finished: { status: 'completed', result } };
      }
      case 'done': {
        const used = plus(NO_USAGE, amountsOf((detail ?? '').replace('used=', '')));
        return { ...this.#attempt(subject), finished: { status: 'completed', result: { value: 'done' }, used } };
      }
      case 'ask':
      case 'question': {
        const { taskId, attempt, attemptHash } = this.#attempt(subject);
        const deviceId = findTask(this.#run, taskId)?.deviceId ?? 'nowhere';
        const ask = askOf(text.replace(subject, taskId), attempt, { now: this.#now, deviceId });
        return { kind: 'asked', taskId, attempt, attemptHash, ask };
      }
      case 'approve':
      case 'reject':
      case 'answer': {
        const { action, by } = wordOf(text);
        return this.#verb(action, by);
      }
      case 'fail': {
        const outcome = (detail ?? 'failed') as 'failed';
        const error = { code: detail === undefined ? 'EXIT_CODE' : detail.toUpperCase(), message: 'failed', outcome };
        return { ...this.#attempt(subject), finished: { status: 'failed', error } };
      }
      case 'propose':
        return {
          kind: 'proposal',
          by: PLANNER,
          planHash: null,
          source: 'rule',
          used: NO_USAGE,
          proposal: proposalOf(text),
        };
      case 'imagine': {
        const proposal = proposalOf(text);
        return { kind: 'proposal', by: PLANNER, planHash: HASH, source: 'model', used: ONE_CALL, proposal };
      }
      case 'abandon': {
        const error = { code: 'MODEL_AWAY', message: text.slice(text.indexOf(': ') + 2) };
        const editId = subject.replace(':', '');
        return { kind: 'round-failed', editId, try: 1, error, used: ONE_CALL, planHash: HASH };
      }
      case 'edit':
        return this.#verb({ verb: 'PROPOSE', proposal: proposalOf(text), delegated: false });
      case 'delegate':
        return this.#verb({ verb: 'PROPOSE', proposal: proposalOf(text), delegated: true });
      case 'cancel':
        return this.#verb({ verb: 'CANCEL' });
      case 'pause':
        return this.#verb({ verb: 'PAUSE' });
      case 'resume':
        return this.#verb({ verb: 'RESUME' });
      case 'retry':
        return this.#verb({ verb: 'RETRY', taskId: subject });
      default:
        throw new Error(`a story has no command "${word}"`);
    }
  }

  /** `A` is the attempt that runs or ran last, `A.1` the first. */
  #attempt(subject: string): Omit<Extract<Input, { kind: 'attempt-ended' }>, 'finished'> {
    const [taskId = '', attempt] = subject.split('.');
    const last = [...this.#run.tasks].find(({ star }) => star.id === taskId)?.attempt ?? 0;
    return {
      kind: 'attempt-ended',
      taskId,
      attempt: attempt === undefined ? last : Number(attempt),
      attemptHash: HASH,
    };
  }

  #verb(action: Extract<Input, { kind: 'verb' }>['action'], by: Actor = ALICE): Input {
    return { kind: 'verb', id: `verb-${++this.#verbs}`, by, action };
  }

  #decide(inputs: readonly Input[]): string[] {
    const circumstances = {
      fleet: { ...fleet([...this.#devices.values()]), agents: this.#agents },
      now: this.#now,
      planner: true,
    };
    const { answers, events } = decide(this.#run, inputs, circumstances);
    const first = this.#events.length + 1;
    for (const event of events) {
      const before = this.#run;
      this.#run = evolve(before, event);
      this.#events.push(event);
      this.#sound(checkEdit(before, event, this.#run));
      this.#sound(checkBudget(before, event, this.#run));
    }
    this.#sound(checkInvariants(this.#run));
    const verbs = inputs.flatMap((input) => (input.kind === 'verb' ? [{ kind: 'verb' as const, id: input.id }] : []));
    if (events.length > 0) this.#run = { ...this.#run, verbs: withVerbs(this.#run.verbs, verbs, this.#events.length) };
    const refold = foldEvents(emptyRun('run-1'), this.#events);
    if (this.#events.length > 0 && JSON.stringify(viewOf(refold)) !== JSON.stringify(viewOf(this.#run))) {
      throw new Error('the recorded facts lead to another state');
    }
    return [...events.map((event, index) => `#${first + index} ${tell(event)}`), ...answers.flatMap(refusal)];
  }

  #sound(violations: readonly object[]): void {
    if (violations.length > 0) throw new Error(`an invariant is broken: ${JSON.stringify(violations)}`);
  }

  #state(): string {
    const { status, outcome, reason, waitingFor, tasks } = viewOf(this.#run);
    if (isTerminal(this.#run)) return `= ${[status, outcome, reason].filter((part) => part !== null).join(' ')}`;
    const held = tasks.filter((task) => task.held).map(({ id }) => id);
    const locked = held.length === 0 ? '' : `; held: ${held.join(' ')}`;
    return `= ${status}, waits for ${waitingFor?.detail} (${waitingFor?.wokenBy})${locked}`;
  }
}

function refusal(answer: Answer): string[] {
  if (answer.kind === 'ignored') return [`ignored: ${answer.detail ?? answer.reason}`];
  if (answer.kind === 'rejected')
    return answer.reason.issues.length === 0
      ? [`refused: ${answer.reason.message}`]
      : answer.reason.issues.map(({ path, message }) => `refused: ${path}: ${message}`);
  return [];
}
