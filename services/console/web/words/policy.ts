/** Of what the policy says of a command. */
export const POLICY_WORDS = {
  title: 'What the policy says of a command',
  about: 'As an agent would give it to a device. Nothing is run.',
  command: 'Command',
  device: 'On device; empty: on none in particular',
  ask: 'Ask',
  decision: 'Decision',
  class: 'Class',
  rule: 'Rule',
  reasons: 'Why',
  wall: 'Wall',
  hash: 'Policy',
} as const;
