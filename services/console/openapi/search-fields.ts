import { FoundState } from '#proto';

/** What is said of a search in an address. */
export const SEARCH_FIELDS = [
  {
    name: 'words',
    in: 'query',
    description: 'all of them are there; "a phrase", OR, NOT, a beginning*',
    schema: { type: 'string', maxLength: 1_000 },
  },
  { name: 'device', in: 'query', description: 'on this one', schema: { type: 'string' } },
  { name: 'by', in: 'query', description: 'of runs that this actor asked for', schema: { type: 'string' } },
  {
    name: 'exit',
    in: 'query',
    description: 'ended with one of these codes; also with commas',
    schema: { type: 'array', items: { type: 'integer' }, maxItems: 20 },
  },
  {
    name: 'rule',
    in: 'query',
    description: 'judged by this rule, or by one whose name begins with it and a dot',
    schema: { type: 'string', maxLength: 128 },
  },
  {
    name: 'state',
    in: 'query',
    description: 'one of these; also with commas, also in small letters',
    schema: { type: 'array', items: { type: 'string', enum: FoundState.options } },
  },
  { name: 'run', in: 'query', description: 'of this run', schema: { type: 'string' } },
  { name: 'task', in: 'query', description: 'of tasks with this id', schema: { type: 'string' } },
  { name: 'since', in: 'query', description: 'recorded from then on', schema: { type: 'string', format: 'date-time' } },
  { name: 'until', in: 'query', description: 'recorded until then', schema: { type: 'string', format: 'date-time' } },
  { name: 'before', in: 'query', description: 'as an answer gave it, for the next page', schema: { type: 'string' } },
  { name: 'limit', in: 'query', schema: { type: 'integer', minimum: 1, maximum: 200, default: 20 } },
];
