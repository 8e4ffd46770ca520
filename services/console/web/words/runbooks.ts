import type { RunbookParameter } from '#proto';

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

const NAME = String.raw`[A-Za-z0-9_.:-]+`;
/** What the patterns of the runbooks that come with it mean, with an example. */
const PATTERNS: Readonly<Record<string, string>> = {
  [`(${NAME}( *, *${NAME})*)?`]: 'names without spaces, separated by commas, as web, eu-west; or nothing',
  [String.raw`(/[^\n]*)?`]: 'a path that begins with /, as /srv/data; or nothing',
  '[A-Za-z0-9][A-Za-z0-9:_.@-]{0,127}': 'a name without spaces, as nginx or getty@tty1',
};

/** Of a pattern that nobody has words for it is at least said what to call it. */
const patternText = (pattern: string): string =>
  PATTERNS[pattern] ?? `a text that fits the regular expression ${pattern}`;

/** What may stand in a field, before anybody has typed anything wrong. */
function wants({ type, minimum, maximum, pattern }: RunbookParameter): string {
  switch (type) {
    case 'integer':
    case 'number': {
      const what = type === 'integer' ? 'a whole number' : 'a number';
      if (minimum !== undefined && maximum !== undefined) return `${what} from ${minimum} to ${maximum}`;
      if (minimum !== undefined) return `${what} of at least ${minimum}`;
      return maximum === undefined ? what : `${what} of at most ${maximum}`;
    }
    case 'boolean':
      return 'yes or no';
    case 'device':
      return 'a device';
    case 'string':
      return pattern === undefined ? 'a text' : patternText(pattern);
  }
}

/** Of the gallery of runbooks, and of the form of one. */
export const RUNBOOK_WORDS = {
  title: 'Runbooks',
  about: 'Plans that people have reviewed. No model is asked for them.',
  none: 'There is no runbook.',
  noneSo: 'No runbook is like that.',
  search: 'Search name, title, description',
  operator: 'of this system',
  parameters: (count: number) => (count === 0 ? 'no parameters' : counted(count, 'parameter')),
  goals: 'Goals that mean it',
  unused: 'Files that are not used',
  back: 'All runbooks',
  unknown: (name: string) => `There is no runbook ${name}.`,
  form: 'Parameters',
  noParameters: 'It takes none.',
  needed: 'needed',
  wants,
  unsaid: 'not said',
  yes: 'yes',
  no: 'no',
  labels: 'Labels',
  labelsHint: 'team=db ticket=OPS-218, to find the run by',
  wait: 'Wait for my word before anything starts',
  start: 'Start',
  mayNot: 'You may look. Starting needs the role requester.',
  plan: 'What would be done',
  planCounts: (tasks: number, lines: number) => `${counted(tasks, 'task')}, ${counted(lines, 'line')}`,
  noPlan: 'There is no plan with these parameters yet.',
  planOf: 'As it would be planned now: which devices take part is decided when it starts.',
  beforehand: 'Approved beforehand',
  state: { counts: 'counts', expired: 'over', revoked: 'taken back', ended: 'who gave it may approve no more' },
  approvedBy: (who: string, until: string) => `by ${who}, until ${until}`,
  takeBack: 'Take back',
  takeBackNamed: (id: string) => `Take back the approval ${id}`,
  takeBackTitle: 'Take this approval back?',
  takeBackAbout: 'What runs of this plan ask is put to people again from now on.',
  approve: 'Approve beforehand',
  approveTitle: 'Let runs of exactly this plan go on unasked?',
  approveAbout:
    'Every task and every line to the letter; of who asks for such a run himself it counts for nothing. It may run:',
  days: 'Days that it counts',
  noDays: 'Days: a whole number of at least 1.',
  inWords: 'left to an agent',
  anyDevice: 'on any',
  command: 'Command',
  target: 'Wants',
  description: 'Description',
  verify: 'Checked by',
} as const;
