import { expect, it } from '@jest/globals';
import { alike, type SettingsInUse } from './settings.js';

const replica = (instance: string, file: string): SettingsInUse => ({
  instance,
  policy: null,
  prompts: [{ file, sha256: 'a'.repeat(64), bytes: 3 }],
  models: [],
  visual: false,
  replays: false,
});

it('shows replicas that work by the same together, and no other one in their place', () => {
  const groups = alike([replica('c', 'old.yaml'), replica('b', 'new.yaml'), replica('a', 'old.yaml')]);
  expect(groups.map(({ names, settings }) => [names, settings.prompts[0]?.file])).toEqual([
    [['a', 'c'], 'old.yaml'],
    [['b'], 'new.yaml'],
  ]);
  expect(alike([])).toEqual([]);
});
