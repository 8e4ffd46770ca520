import { CONTEXT_LINES_MAX } from '#libs/output';
import { LIMITS } from '#proto';

const FLAG = { type: 'string', enum: ['true', 'false'] };
/** What may stand behind the `?` of the address of outputs. */
export const OUTPUT_FIELDS = [
  {
    name: 'format',
    in: 'query',
    description:
      'what is recorded by now: text, in which every line begins with its place; or json, one RecordedItem on each line',
    schema: { type: 'string', enum: ['text', 'json'] },
  },
  { name: 'task', in: 'query', description: 'of this task only', schema: { type: 'string' } },
  { name: 'attempt', in: 'query', description: 'of this attempt only', schema: { type: 'integer', minimum: 1 } },
  { name: 'step', in: 'query', description: 'of this step, or of one command of it: 2.0', schema: { type: 'string' } },
  { name: 'failed', in: 'query', description: 'only of commands that did not go well', schema: FLAG },
  {
    name: 'stream',
    in: 'query',
    description: 'only this',
    schema: { type: 'string', enum: ['stdout', 'stderr', 'result', 'answer'] },
  },
  {
    name: 'artifact',
    in: 'query',
    description:
      'instead of texts: the content of one file, as an attachment: by the name of one that a tool answered with, or the path of one that a task left',
    schema: { type: 'string', maxLength: LIMITS.filePathCharsMax },
  },
  { name: 'grep', in: 'query', description: 'only lines that match: RE2', schema: { type: 'string', maxLength: 250 } },
  { name: 'fixed', in: 'query', description: 'the pattern is a text', schema: FLAG },
  { name: 'ignoreCase', in: 'query', description: 'large and small letters are the same', schema: FLAG },
  {
    name: 'context',
    in: 'query',
    description: 'with so many lines around each that matches',
    schema: { type: 'integer', minimum: 0, maximum: CONTEXT_LINES_MAX },
  },
];
