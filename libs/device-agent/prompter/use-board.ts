import type { ToolInfo } from '#proto';
import { READ_LINES_DEFAULT } from './read-output.js';

/** Reads what stands on the board of the run. The agent serves it by itself, as READ_OUTPUT. */
export const READ_BOARD_TOOL: ToolInfo = {
  name: 'READ_BOARD',
  description:
    'Reads the board of the run: values under names that its tasks, agents and people leave for one another. Without a name it lists them. Runs nothing on the device.',
  readOnly: true,
  inputSchema: {
    type: 'object',
    properties: {
      name: { type: 'string', description: 'Which value; all of them, in short, when left out.' },
      from_line: { type: 'integer', description: 'The first line of the value to read, from 1.', default: 1 },
      lines: { type: 'integer', description: 'How many lines.', default: READ_LINES_DEFAULT },
      containing: { type: 'string', description: 'Only lines that contain this text; they are then counted alone.' },
    },
  },
  returns: 'Who wrote the value, its revision, and the value.',
};

/** Puts a value there. */
export const WRITE_BOARD_TOOL: ToolInfo = {
  name: 'WRITE_BOARD',
  description:
    'Puts a value on the board of the run, at once, for its other tasks, its planner and people, in place of what stands there under that name. For what others need to work with; a fact in a sentence is a note. Runs nothing on the device.',
  readOnly: false,
  inputSchema: {
    type: 'object',
    properties: {
      name: { type: 'string', description: 'Letters, digits and _; begins with a letter.' },
      value: { description: 'Any JSON value, of at most 64 KiB.' },
      revision: {
        type: 'integer',
        description: 'What you have seen there, 0 for nothing: if something else stands there, nothing is written.',
      },
    },
    required: ['name', 'value'],
  },
  returns: 'The revision of the value, or why nothing was written and what stands there.',
};
