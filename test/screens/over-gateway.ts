import type { AgentEnd, AgentKind, AgentTask, EffectOutcome, testing, ToolCalled } from '#libs/device-agent';
import { commandIdOf, type AttemptKey, type CommandCall, type DeviceAnswer } from '#proto';
import type { TestBench } from '../../services/aip-gateway/testing/test-bench.adapter.js';

const NEVER_TOO_LATE = '2099-01-01T00:00:00.000Z';

export interface AtWork {
  readonly bench: TestBench;
  readonly kind: AgentKind;
  readonly task: AgentTask;
  readonly attempt: AttemptKey;
  readonly deviceId: string;
  readonly sessionId: string;
  /** What its models say, in their order. */
  readonly replies: readonly testing.Said[];
}

const endOf = (answer: DeviceAnswer): ToolCalled['ended'] => {
  if (answer.state === 'refused') return { kind: 'refused', by: 'device', code: answer.code, message: answer.message };
  if (answer.state !== 'finished') throw new Error(`it is ${answer.state}`);
  const { state, result, files, error } = answer.outcome;
  const told = { value: result, ...(files !== undefined && { files }) };
  return { kind: 'finished', state, result: told, message: error?.message ?? null };
};

/** An agent works until it ends; each command of it is asked for on the bus, as the device-agent does. */
export async function workedOver({ bench, kind, task, replies, ...at }: AtWork): Promise<AgentEnd> {
  const { attempt, deviceId, sessionId } = at;
  const call = (command: CommandCall, step: number, index: number): Promise<DeviceAnswer> =>
    bench.ask({
      kind: 'run',
      commandId: commandIdOf(attempt, step, index),
      attempt,
      deviceId,
      sessionId,
      journalId: null,
      command,
      priority: 0,
      notAfter: NEVER_TOO_LATE,
    });
  const program = kind.run(task);
  const outcomes: EffectOutcome[] = [];
  let [step, index] = [1, 0];
  for (let turn = program.next(); ;) {
    if (turn.done === true) return turn.value;
    const effect = turn.value;
    if (effect.kind === 'ask-model') {
      const reply = replies[outcomes.filter((one) => one.kind === 'replied').length];
      if (reply === undefined || 'code' in reply) throw new Error('the script has no reply');
      if (outcomes.some((one) => one.kind === 'replied')) [step, index] = [step + 1, 0];
      effect.prompt(`boundary-of-the-step-${step}`);
      outcomes.push({ kind: 'replied', step, reply });
    } else if (effect.kind === 'call-tool') {
      const { command } = effect;
      outcomes.push({ kind: 'called', step, index, command, ended: endOf(await call(command, step, index)) });
      index += 1;
    } else throw new Error(`nobody answers ${effect.kind}`);
    turn = program.next(outcomes.at(-1) ?? { kind: 'read', text: '', totalLines: 0 });
  }
}
