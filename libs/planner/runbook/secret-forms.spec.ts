import { describe, expect, it } from '@jest/globals';
import type { Json } from '#proto';
import { secretLookingPaths, withoutSecretForms } from './secret-forms.js';

const plan = (command: Json): Json => ({ constellation: { tasks: [{ task_id: 'a', command }] } });
const PLACE = 'constellation.tasks[0].command.arguments';

describe('where something looks like a secret', () => {
  it.each([
    ['a token in a command line', { command: 'curl --token ghp_0123456789abcdefghij' }, [`${PLACE}.command`]],
    ['a password that is set', { command: 'PGPASSWORD=hunter2 psql' }, [`${PLACE}.command`]],
    ['a variable that is called one', { env: { DB_PASSWORD: 'hunter2' } }, [`${PLACE}.env.DB_PASSWORD`]],
    ['one in a list', { argv: ['login', 'https://app:hunter2@db'] }, [`${PLACE}.argv[1]`]],
    ['the name of a secret of the device', { env: { DB_PASSWORD: { secret: 'db-password' } } }, []],
    ['a variable', { command: 'PGPASSWORD=$DB_PASSWORD psql', password: '$DB_PASSWORD' }, []],
    ['a parameter', { env: { TOKEN: '{{ p.token }}' } }, []],
    ['nothing', { command: 'df -P', token: '' }, []],
  ])('%s: %j', (_, given, paths) => {
    expect(secretLookingPaths(plan({ tool: 'EXEC_CLI', arguments: given }))).toEqual(paths);
  });

  it('knows ids for what they are', () => {
    expect(secretLookingPaths({ task_id: 'sk-0123456789abcdef', description: 'sk-0123456789abcdef' })).toEqual([
      'description',
    ]);
  });

  it('shows what was asked for in the place of each', () => {
    expect(withoutSecretForms('--password hunter2 AKIAIOSFODNN7EXAMPLE', '*')).toBe('--password * *');
  });
});
