import { expect, it } from '@jest/globals';
import { PolicyInUse } from '#proto';
import { openBashGrammar } from '../script/index.js';
import { openPolicy, policyInUse } from './index.js';

const FILE = `
version: 1
defaults: { network: deny }
rules:
  - { id: status, match: { program: git, args: [status] }, decision: allow }
floor: [{ id: no-prod, match: { paths: [/prod/**] }, reason: It earns the money. }]
tools: { notes: read, remote: { shellLine: line } }
devices:
  - { match: { tags: [lab] }, defaults: { write: approve } }
`;

it('is told by the places that say it, each with its own and nothing else', async () => {
  const grammar = await openBashGrammar();
  const policy = openPolicy({ file: FILE }, grammar);
  const { hash, layers } = PolicyInUse.parse(policyInUse(policy, '/etc/policy.yaml'));
  expect(hash).toBe(policy.hash);
  expect(layers.map(({ from }) => from)).toEqual(['built in', '/etc/policy.yaml', '/etc/policy.yaml: devices[0]']);
  expect(layers[1]).toEqual({
    from: '/etc/policy.yaml',
    defaults: { network: 'deny' },
    rules: [{ id: 'status', match: 'program git; args status', decision: 'allow' }],
    floor: [{ id: 'no-prod', match: 'paths /prod/**', reason: 'It earns the money.' }],
    sensitivePaths: [],
    tools: { notes: 'read', remote: 'a line for a shell in line' },
  });
  expect(layers[2]).toMatchObject({ devices: { tags: ['lab'] }, defaults: { write: 'approve' } });
  expect(policyInUse(openPolicy({}, grammar), undefined).layers).toHaveLength(1);
});
