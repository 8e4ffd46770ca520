import type { AgentTask, BoardUse, ReadInput, ReadOutput } from '../effects/index.js';
import type { CommandCall, Json, ToolInfo } from '#proto';
import {
  READ_BOARD_TOOL,
  READ_INPUT_TOOL,
  READ_LINES_DEFAULT,
  READ_OUTPUT_TOOL,
  WRITE_BOARD_TOOL,
} from '../prompter/index.js';

const QUESTION_CHARS_MAX = 4_000;

/** Asks a person; served by the agent itself. */
export const ASK_TOOL: ToolInfo = {
  name: 'ASK',
  description:
    'Asks a person something that nobody but a person can know or decide, and waits for the answer. It may take long, and there may be none: whatever a command can tell you, ask the device.',
  readOnly: true,
  inputSchema: {
    type: 'object',
    properties: {
      question: {
        type: 'string',
        description: 'One question that can be answered without reading anything else.',
        minLength: 1,
        maxLength: QUESTION_CHARS_MAX,
      },
    },
    required: ['question'],
    additionalProperties: false,
  },
  returns: 'The answer, or why there is none.',
};

/** Tools that the agent serves by itself. No device hears of them, and a device that offers one of that name is not asked. */
export const OWN_TOOLS: readonly ToolInfo[] = [
  READ_OUTPUT_TOOL,
  READ_INPUT_TOOL,
  READ_BOARD_TOOL,
  WRITE_BOARD_TOOL,
  ASK_TOOL,
];

/** What an agent may call on this device. */
export function agentToolsOf({ device, inputs }: AgentTask): readonly ToolInfo[] {
  const own = OWN_TOOLS.filter((tool) => tool !== READ_INPUT_TOOL || inputs.length > 0);
  return [...device.tools.filter(({ name }) => !isOwnTool(name)), ...own];
}

export const isOwnTool = (name: string): boolean => OWN_TOOLS.some((tool) => tool.name === name);

/** What READ_OUTPUT is asked for; its arguments fit its schema. */
export function readOf({ arguments: given }: CommandCall): Omit<ReadOutput, 'kind'> {
  const containing = textOf(given['containing']);
  return {
    step: numberOf(given['step'], 1),
    index: numberOf(given['index'], 0),
    stream: streamOf(given['stream']),
    fromLine: Math.max(1, numberOf(given['from_line'], 1)),
    lines: Math.max(1, numberOf(given['lines'], READ_LINES_DEFAULT)),
    ...(containing === '' ? {} : { containing }),
  };
}

/** What READ_INPUT is asked for; its arguments fit its schema. */
export function inputReadOf({ arguments: given }: CommandCall): Omit<ReadInput, 'kind'> {
  const [field, containing] = [textOf(given['field']), textOf(given['containing'])];
  const fromByte = numberOf(given['from_byte'], -1);
  return {
    taskId: textOf(given['task']),
    ...(field === '' ? {} : { field }),
    fromLine: Math.max(1, numberOf(given['from_line'], 1)),
    lines: Math.max(1, numberOf(given['lines'], READ_LINES_DEFAULT)),
    ...(containing === '' ? {} : { containing }),
    ...(fromByte < 0 ? {} : { fromByte }),
  };
}

/** What READ_BOARD or WRITE_BOARD is asked for; undefined for another tool. */
export function boardUseOf({ tool, arguments: given }: CommandCall): BoardUse | undefined {
  const name = textOf(given['name']);
  if (tool === WRITE_BOARD_TOOL.name) {
    const revision = numberOf(given['revision'], -1);
    return { does: 'write', name, value: given['value'] ?? null, ...(revision < 0 ? {} : { revision }) };
  }
  if (tool !== READ_BOARD_TOOL.name) return undefined;
  const containing = textOf(given['containing']);
  return {
    does: 'read',
    ...(name === '' ? {} : { name }),
    fromLine: Math.max(1, numberOf(given['from_line'], 1)),
    lines: Math.max(1, numberOf(given['lines'], READ_LINES_DEFAULT)),
    ...(containing === '' ? {} : { containing }),
  };
}

export const questionAsked = ({ arguments: given }: CommandCall): string => textOf(given['question']);

const numberOf = (value: Json | undefined, otherwise: number): number =>
  typeof value === 'number' && Number.isSafeInteger(value) ? value : otherwise;

const textOf = (value: Json | undefined): string => (typeof value === 'string' ? value : '');

function streamOf(value: Json | undefined): ReadOutput['stream'] {
  return value === 'stderr' || value === 'result' ? value : 'stdout';
}
