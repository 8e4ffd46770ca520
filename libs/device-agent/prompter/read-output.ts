import type { ToolInfo } from '#proto';
import type { OutputStream } from '#libs/prompter';

/** Lines that one READ_OUTPUT gives when it does not say how many. */
export const READ_LINES_DEFAULT = 200;

/** Reads on in an output that was shown in part. The agent serves it by itself: no device hears of it, no policy judges it. */
export const READ_OUTPUT_TOOL: ToolInfo = {
  name: 'READ_OUTPUT',
  description:
    'Reads more of the output of one of your earlier commands. Runs nothing on the device, so the output is what the command gave then.',
  readOnly: true,
  inputSchema: {
    type: 'object',
    properties: {
      step: { type: 'integer', description: 'The step of the command.' },
      index: { type: 'integer', description: 'Which command of that step, from 0.', default: 0 },
      stream: { type: 'string', description: 'stdout, stderr, or result.', default: 'stdout' },
      from_line: { type: 'integer', description: 'The first line to read, from 1.', default: 1 },
      lines: { type: 'integer', description: 'How many lines.', default: READ_LINES_DEFAULT },
      containing: { type: 'string', description: 'Only lines that contain this text; they are then counted alone.' },
    },
    required: ['step'],
  },
  returns: 'The lines, and how many lines the output has.',
};

/** The call that reads on where an excerpt stops, as the model has to write it. */
export function readOnCall(place: { step: number; index: number; stream: OutputStream; fromLine: number }): string {
  const { step, index, stream, fromLine } = place;
  const call = { step, index, stream, from_line: fromLine, lines: READ_LINES_DEFAULT };
  return `${READ_OUTPUT_TOOL.name} ${JSON.stringify(call)}`;
}
