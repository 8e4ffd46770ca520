import { RunStatus } from '#proto';

/** What is said of figures in an address. */
export const METRICS_FIELDS = [
  {
    name: 'label',
    in: 'query',
    description: 'with this label: "team=db", or "team" with any value; of several all have to be there',
    schema: { type: 'array', items: { type: 'string' } },
  },
  { name: 'since', in: 'query', description: 'asked from then on', schema: { type: 'string', format: 'date-time' } },
  { name: 'until', in: 'query', description: 'asked until then', schema: { type: 'string', format: 'date-time' } },
  { name: 'requester', in: 'query', description: 'asked by this actor', schema: { type: 'string' } },
  {
    name: 'status',
    in: 'query',
    description: 'one of these; also with commas, also in small letters',
    schema: { type: 'array', items: { type: 'string', enum: RunStatus.options } },
  },
  { name: 'by', in: 'query', description: 'the same for every value of this label', schema: { type: 'string' } },
  {
    name: 'format',
    in: 'query',
    description: 'csv: comma-separated values instead of JSON',
    schema: { type: 'string', enum: ['json', 'csv'], default: 'json' },
  },
];
