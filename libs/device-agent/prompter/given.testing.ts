import fc from 'fast-check';
import { countTokens as count } from 'gpt-tokenizer/encoding/o200k_base';
import type { TaskResult, ToolInfo } from '#proto';
import { Blackboard } from '../memory/blackboard.js';
import { Memory, type MemoryItem } from '../memory/memory.js';
import type { PromptView } from './view.js';

const PLAIN = { disallowedSpecial: new Set<string>() };

/** A real tokenizer, so that budgets mean something. */
export const countTokens = (text: string): number => count(text, PLAIN);

/** Any character, halves of characters included. (The unit `binary` of fast-check takes two seconds to be made.) */
export const anyCharacter = fc.nat(0x10_ff_ff).map((code) => String.fromCodePoint(code));

export const BOUNDARY = 'k3J9sQx7PqLm2NvRt4Zw';

/** What EXEC_CLI answers. */
export function shell(stdout: string, { exitCode = 0, stderr = '' } = {}): TaskResult {
  return { value: { stdout, stderr, exit_code: exitCode, command: '', execution_time: 0, timestamp: '', status: '' } };
}

export type Call = MemoryItem['calls'][number];

export const ran = (command: string, result: TaskResult, index = 0): Call => ({
  index,
  command: { tool: 'EXEC_CLI', arguments: { command } },
  ended: { kind: 'finished', state: 'COMPLETED', result, message: null },
});

export function step(number: number, more: Partial<MemoryItem> = {}): MemoryItem {
  return {
    step: number,
    agent: 'LinuxAgent',
    observation: '',
    thought: '',
    plan: [],
    comment: '',
    status: 'CONTINUE',
    notes: [],
    calls: [],
    answers: [],
    reads: [],
    problems: [],
    ...more,
  };
}

export const EXEC_CLI: ToolInfo = {
  name: 'EXEC_CLI',
  description: 'Runs a command line in a shell, from its beginning to its end.',
  readOnly: false,
  inputSchema: {
    type: 'object',
    properties: {
      command: { type: 'string', description: 'The command line.' },
      timeout: { type: 'number', description: 'Seconds.', default: 30 },
      working_directory: { type: 'string', description: 'Where it runs.' },
    },
    required: ['command'],
  },
  returns: 'stdout, stderr and exit_code.',
};

export function viewOf(more: Partial<PromptView> = {}): PromptView {
  return {
    task: {
      taskId: 'check-disk',
      name: 'Check the disk',
      description: 'Say how full the root file system is.',
      tips: ['Expected textual result: the line of the root file system.'],
      inputs: [],
      blackboard: [],
      device: { deviceId: 'web-1', os: 'linux', arch: 'x64', hostname: 'web-1.example.org', tools: [EXEC_CLI] },
      stepsMax: 50,
    },
    memory: Memory.empty,
    blackboard: Blackboard.of([]),
    tools: [EXEC_CLI],
    plan: [],
    stepsLeft: 50,
    ...more,
  };
}

/** A text of so many characters that looks like the output of a command. */
export function listing(chars: number, seed = 1): string {
  let text = '';
  for (let line = 0; text.length < chars; line++) {
    text += `-rw-r--r-- 1 root root ${(line * 7919 * seed) % 99_991} Mar ${(line % 28) + 1} 08:${line % 60} file-${seed}-${line}.log\n`;
  }
  return text.slice(0, chars);
}
