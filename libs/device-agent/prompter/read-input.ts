import type { ToolInfo } from '#proto';
import { READ_LINES_DEFAULT } from './read-output.js';

/** Reads the results of the tasks before this one whole. The agent serves it by itself, as READ_OUTPUT. */
export const READ_INPUT_TOOL: ToolInfo = {
  name: 'READ_INPUT',
  description:
    'Reads more of the result of a task before yours, which you may have been shown in part. Runs nothing on the device.',
  readOnly: true,
  inputSchema: {
    type: 'object',
    properties: {
      task: { type: 'string', description: 'The id of that task.' },
      field: {
        type: 'string',
        description:
          'A field of its result such as stderr or data.items.0; its standard output, or its text, when left out.',
      },
      from_line: { type: 'integer', description: 'The first line to read, from 1.', default: 1 },
      lines: { type: 'integer', description: 'How many lines.', default: READ_LINES_DEFAULT },
      containing: { type: 'string', description: 'Only lines that contain this text; they are then counted alone.' },
      from_byte: { type: 'integer', description: 'Read from this byte on, from 0, instead of a line.' },
    },
    required: ['task'],
  },
  returns: 'The lines, and how many lines there are.',
};

/** The call that reads on where an excerpt stops, as the model has to write it. */
export function readInputCall(place: { task: string; field: string | undefined; fromLine: number }): string {
  const { task, field, fromLine } = place;
  const call = { task, ...(field !== undefined && { field }), from_line: fromLine, lines: READ_LINES_DEFAULT };
  return `${READ_INPUT_TOOL.name} ${JSON.stringify(call)}`;
}
