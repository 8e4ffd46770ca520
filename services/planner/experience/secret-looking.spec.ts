import { describe, expect, it } from '@jest/globals';
import type { ExampleReply } from '#proto';
import { exampleWithoutSecrets, withoutSecretsInText } from './secret-looking.js';

const NOTHING = { results: [], said: [] };
const text = (given: string): string => withoutSecretsInText(given, NOTHING);

describe('an example', () => {
  it.each([
    ['use AKIAIOSFODNN7EXAMPLE for it', 'use [secret] for it'],
    ['ghp_0123456789abcdefghij0123456789abcdef', '[secret]'],
    ['sk-proj-abcdefghijklmnop1234', '[secret]'],
    ['eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl is old', '[secret] is old'],
    ['-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nrest', '[secret]\nrest'],
    ['-----BEGIN PRIVATE KEY-----\ncut off', '[secret]'],
    ['psql postgres://app:hunter2@db/app', 'psql postgres://app:[secret]@db/app'],
    ['PGPASSWORD=hunter2 psql', 'PGPASSWORD=[secret] psql'],
    ['mysql --password hunter2 -e x', 'mysql --password [secret] -e x'],
    ['curl -H "Authorization: Bearer abc123def456"', 'curl -H "Authorization: Bearer [secret]"'],
    ['the admin password: correct-horse-9', 'the admin password: [secret]'],
    ['api_key="k-1"', 'api_key="[secret]"'],
  ])('is without what looks like a key or a password: %s', (given, shown) => {
    expect(text(given)).toBe(shown);
  });

  it.each([
    'PGPASSWORD=$DB_PASSWORD psql',
    'curl --token "$TOKEN"',
    'postgres://app:${PASSWORD}@db/app',
    'the password: ask a person for it',
    'Basic configuration of the token bucket',
    'sha256sum /srv/backup/dump-2026-11-20.sql.gz',
    'df -P --output=target,pcent | sort',
    'result.token == 1 && result.password != 2',
  ])('keeps what only speaks of one: %s', (given) => {
    expect(text(given)).toBe(given);
  });

  it('is without long words that only results know', () => {
    const origin = {
      results: ['{"stdout":"session=9f86d081884c7d659a2f on application-server-01, no-digits-in-this-word"}'],
      said: ['look at application-server-01'],
    };
    expect(withoutSecretsInText('9f86d081884c7d659a2f at application-server-01', origin)).toBe(
      '[secret] at application-server-01',
    );
    expect(withoutSecretsInText('no-digits-in-this-word, 0123456789abcdef0123', origin)).toBe(
      'no-digits-in-this-word, 0123456789abcdef0123',
    );
  });

  it.each(['a-', 'eyJ-', 'token:', 'token=', '--token ', 'a.', '://a:', 'Bearer ', '-----BEGIN ', 'a1-_+'])(
    'is read through in no time that grows faster than it: %s',
    (piece) => {
      const long = piece.repeat(Math.ceil(262_144 / piece.length));
      expect(withoutSecretsInText(long, { results: [long], said: [] }).length).toBeLessThanOrEqual(long.length * 2);
    },
  );

  it('keeps its ids and the names of secrets, and loses what is called a password', () => {
    const id = 'task-9f86d081884c7d659a2f';
    const example: ExampleReply = {
      request: `Look after ${id}`,
      tips: [`it says ${id}`],
      constellation: {
        tasks: [
          {
            task_id: id,
            name: 'login',
            description: 'log in',
            target_device_id: 'web-1',
            command: {
              tool: 'EXEC_CLI',
              arguments: { command: 'login', stdin: { secret: 'db-password' }, password: 'hunter2', token: '$TOKEN' },
            },
          },
        ],
        dependencies: [],
      },
    };
    const clean = exampleWithoutSecrets(example, { results: [id], said: [] });
    expect(clean.request).toBe('Look after [secret]');
    expect(clean.tips).toEqual(['it says [secret]']);
    expect(clean.constellation.tasks[0]).toMatchObject({
      task_id: id,
      command: { arguments: { stdin: { secret: 'db-password' }, password: '[secret]', token: '$TOKEN' } },
    });
  });
});
