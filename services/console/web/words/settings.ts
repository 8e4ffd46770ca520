const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

/** Of what services work by: policy, prompts, models. */
export const IN_USE_WORDS = {
  services: {
    'device-agent': 'What judges and guides agents (device-agent)',
    planner: 'What plans are made with (planner)',
  },
  about: 'As it was loaded when the service started. Nothing is changed here.',
  replicas: (names: readonly string[]) => `${counted(names.length, 'replica')}: ${names.join(', ')}`,
  same: (names: readonly string[]) =>
    names.length === 1
      ? `One replica has answered: ${names.join()}.`
      : `${names.length} replicas have answered alike: ${names.join(', ')}.`,
  differ: 'Replicas work by different settings. Which one does a piece of work is chance: each is shown by itself.',
  notAsked: 'Could not be asked:',
  policy: 'Policy',
  hash: 'Hash',
  policyAbout:
    'A later place counts before those above it. What nobody may ever do, and paths with secrets, add up. A device can be stricter.',
  forDevices: (ids: readonly string[], tags: readonly string[]) =>
    `for devices ${[...ids, ...tags.map((tag) => `tagged ${tag}`)].join(', ')}`,
  class: 'Class',
  decision: 'Decision',
  defaults: (from: string) => `Decisions by class, from ${from}`,
  rules: (from: string) => `Rules, from ${from}`,
  rule: 'Rule',
  match: 'Commands',
  why: 'Reason',
  never: 'never',
  sensitive: 'Paths with secrets',
  writable: 'Where writing is ordinary',
  programs: 'Programs are known from',
  tools: 'Tools',
  prompts: 'Prompts',
  noPrompts: 'None are loaded: no model is configured.',
  file: 'File',
  sha256: 'SHA-256',
  open: 'Show',
  openOf: (file: string) => `Show ${file}`,
  gone: 'Nobody who answers has loaded this file any more.',
  models: 'Models',
  noModels: 'None is configured.',
  replays: 'Models are not asked: what they answered once is read again.',
  visual: (visual: boolean) =>
    visual ? 'Agents of screens show pictures to those that see them.' : 'No pictures are shown to them.',
  of: 'For',
  model: 'Model',
  host: 'Endpoint',
  key: 'Key',
  hasKey: (has: boolean) => (has ? 'has one' : 'none'),
  temperature: 'Temperature',
  maxTokens: 'Tokens at most',
  timeout: 'Time for a try',
  retries: 'Tries again',
  pictures: 'Sees pictures',
  sees: (pictures: boolean) => (pictures ? 'yes' : 'no'),
  unset: 'as the model has it',
} as const;
