import { LinuxAgentReply, type Json } from '#proto';
import {
  boardUseOf,
  inputReadOf,
  type AgentEnd,
  type AgentKind,
  type AgentProgram,
  type AgentTask,
  type EffectOutcome,
} from '#libs/device-agent';

/** A reply in the form of a LinuxAgent's, for scripts of models. */
export function reply(command: string, change: Partial<LinuxAgentReply> = {}): { json: Json } {
  const action = { function: 'EXEC_CLI', arguments: { command }, status: 'CONTINUE' as const };
  return { json: json({ action, ...change }) };
}

export function finish(result: string, change: Partial<LinuxAgentReply> = {}): { json: Json } {
  return { json: json({ action: { function: '', arguments: {}, status: 'FINISH' }, result, ...change }) };
}

export function fail(result: string): { json: Json } {
  return { json: json({ action: { function: '', arguments: {}, status: 'FAIL' }, result }) };
}

function json(change: Partial<LinuxAgentReply>): Json {
  const said = { observation: 'seen', thought: 'I think', plan: ['go on'], comment: 'fine', notes: [], result: '' };
  return { ...said, ...change };
}

/** The simplest agent there is, for tests: asks, does what the model says, shows it what came of it, until it is done. */
export function shellAgent(name = 'LinuxAgent'): AgentKind {
  return { name, run: (task) => program(name, task) };
}

function* program(agent: string, task: AgentTask): AgentProgram {
  const history: EffectOutcome[] = [];
  for (;;) {
    const outcome = yield {
      kind: 'ask-model',
      agent,
      schema: LinuxAgentReply,
      prompt: (boundary) => ({
        messages: [{ role: 'user', content: JSON.stringify({ boundary, task, history }) }],
        templates: [{ id: 'test', hash: 'b'.repeat(64) }],
      }),
    };
    if (outcome.kind === 'model-failed') return failed(outcome.code, outcome.message);
    if (outcome.kind !== 'replied') throw new Error(`a model that has ${outcome.kind}`);
    const { action, result, notes } = outcome.reply as LinuxAgentReply;
    if (action.status === 'FINISH') return { kind: 'finished', result, notes };
    if (action.status === 'FAIL') return failed('AGENT_FAILED', result, result);
    const { question } = action.arguments;
    const use = boardUseOf({ tool: action.function, arguments: action.arguments });
    if (action.function === 'ASK' && typeof question === 'string') history.push(yield { kind: 'ask-person', question });
    else if (use !== undefined) history.push(yield { kind: 'use-board', use });
    else if (action.function === 'READ') {
      history.push(yield { kind: 'read-output', step: 1, index: 0, stream: 'stdout', fromLine: 1, lines: 3 });
    } else if (action.function === 'READ_INPUT') {
      history.push(yield { kind: 'read-input', ...inputReadOf({ tool: 'READ_INPUT', arguments: action.arguments }) });
    } else history.push(yield { kind: 'call-tool', command: { tool: action.function, arguments: action.arguments } });
  }
}

function failed(code: string, message: string, result: Json = ''): AgentEnd {
  return { kind: 'failed', code, message, result, notes: [] };
}
