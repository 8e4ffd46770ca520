import type { CommandCall, Json, Prompt } from '#proto';
import type {
  AgentEnd,
  AgentKind,
  AgentReply,
  AgentTask,
  AskModel,
  AskPerson,
  BoardUse,
  BoardUsed,
  CallTool,
  Effect,
  ModelFailed,
  ModelReplied,
  EffectOutcome,
  OutputRead,
  PersonAnswered,
  ReadInput,
  ReadOutput,
  ToolCalled,
} from '../effects/effect.js';

/** Where in an attempt an effect stands, as the service numbers it. */
export interface Place {
  readonly step: number;
  readonly index: number;
}

/** What becomes of an effect. */
export type Answer = (effect: Effect, at: Place) => EffectOutcome;

export interface Driven {
  readonly end: AgentEnd;
  readonly effects: readonly Effect[];
  readonly outcomes: readonly EffectOutcome[];
  /** One per question to a model. */
  readonly prompts: readonly Prompt[];
}

/** Runs an attempt to its end in one go: every effect gets its outcome at once. */
export function drive(kind: AgentKind, task: AgentTask, answer: Answer): Driven {
  const effects: Effect[] = [];
  const outcomes: EffectOutcome[] = [];
  const prompts: Prompt[] = [];
  const program = kind.run(task);
  // What is called before the model speaks for the first time belongs to its first step.
  let [step, index, asked] = [1, 0, false];
  for (let turn = program.next(); ;) {
    if (turn.done === true) return { end: turn.value, effects, outcomes, prompts };
    const effect = turn.value;
    if (effect.kind === 'ask-model') {
      if (asked) [step, index] = [step + 1, 0];
      asked = true;
      prompts.push(effect.prompt(`boundary-of-the-step-${step}`));
    }
    const outcome = answer(effect, { step, index });
    if (effect.kind === 'call-tool' || effect.kind === 'ask-person' || effect.kind === 'use-board') index += 1;
    effects.push(effect);
    outcomes.push(outcome);
    turn = program.next(outcome);
  }
}

/** Runs an attempt again on outcomes that were recorded; `end` is null when they are used up before it is over. */
export function replay(
  kind: AgentKind,
  task: AgentTask,
  outcomes: readonly EffectOutcome[],
): { readonly effects: readonly Effect[]; readonly end: AgentEnd | null } {
  const effects: Effect[] = [];
  const program = kind.run(task);
  let turn = program.next();
  for (const outcome of outcomes) {
    if (turn.done === true) return { effects, end: turn.value };
    effects.push(turn.value);
    turn = program.next(outcome);
  }
  if (turn.done === true) return { effects, end: turn.value };
  program.return({
    kind: 'failed',
    code: 'LEFT',
    message: 'nobody goes on with this attempt',
    result: null,
    notes: [],
  });
  return { effects: [...effects, turn.value], end: null };
}

/** What a model is scripted to say: a reply, or why there is none. */
export type Said = AgentReply | Pick<ModelFailed, 'code' | 'message'>;
type Ended = ToolCalled['ended'];

export interface Script {
  /** By step, or in the order of the steps; who is asked more often than that has a wrong script. */
  readonly replies: readonly Said[] | ((ask: AskModel, step: number) => Said);
  /** In their order, or by command; without any every command succeeds and says nothing. */
  readonly calls?: readonly Ended[] | ((command: CommandCall, at: Place) => Ended);
  readonly answers?: (question: string) => Pick<PersonAnswered, 'text' | 'note'>;
  readonly board?: (use: BoardUse) => Pick<BoardUsed, 'done' | 'text'>;
  readonly reads?: (read: ReadOutput | ReadInput) => Omit<OutputRead, 'kind'>;
}

/** An answer to every effect, out of a script. */
export function scripted({ replies, calls = () => cli(''), answers, board, reads }: Script): Answer {
  let called = 0;
  const answerOf = {
    'ask-model': (ask: AskModel, { step }: Place): ModelReplied | ModelFailed => {
      const said = typeof replies === 'function' ? replies(ask, step) : replies[step - 1];
      if (said === undefined) throw new Error(`the script has no reply for step ${step}`);
      return 'code' in said ? { kind: 'model-failed', step, ...said } : { kind: 'replied', step, reply: said };
    },
    'call-tool': ({ command }: CallTool, at: Place): ToolCalled => {
      const ended = typeof calls === 'function' ? calls(command, at) : calls[called++];
      if (ended === undefined) throw new Error(`the script has no end for ${JSON.stringify(command)}`);
      return { kind: 'called', ...at, command, ended };
    },
    'ask-person': ({ question }: AskPerson, { step }: Place): PersonAnswered => ({
      kind: 'answered',
      step,
      ...(answers?.(question) ?? { text: null, note: 'nobody is there' }),
    }),
    reads: (read: ReadOutput | ReadInput): OutputRead => ({
      kind: 'read',
      ...(reads?.(read) ?? { text: '', totalLines: 0 }),
    }),
  };
  return (effect, at) => {
    switch (effect.kind) {
      case 'ask-model':
        return answerOf['ask-model'](effect, at);
      case 'call-tool':
        return answerOf['call-tool'](effect, at);
      case 'ask-person':
        return answerOf['ask-person'](effect, at);
      case 'read-output':
      case 'read-input':
        return answerOf.reads(effect);
      case 'use-board':
        return { kind: 'used-board', ...at, ...(board?.(effect.use) ?? { done: true, text: '' }) };
    }
  };
}

/** How a shell command ended. */
export function cli(stdout: string, exitCode = 0, stderr = ''): Ended {
  const status = exitCode === 0 ? 'SUCCESS' : 'ERROR';
  return answered({ stdout, stderr, exit_code: exitCode, status });
}

/** A tool answered. */
export const answered = (value: Json): Ended => ({
  kind: 'finished',
  state: 'COMPLETED',
  result: { value },
  message: null,
});

export const refused = (by: 'policy' | 'person' | 'device', code: string, message: string): Ended => ({
  kind: 'refused',
  by,
  code,
  message,
});

/** The tool calls that reached the device. */
export const callsOf = ({ effects }: Pick<Driven, 'effects'>): CommandCall[] =>
  effects.flatMap((effect) => (effect.kind === 'call-tool' ? [effect.command] : []));
