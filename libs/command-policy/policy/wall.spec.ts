import { beforeAll, describe, expect, it } from '@jest/globals';
import { wallOnly } from '#proto';
import { openBashGrammar, openPolicy, type CommandPolicy } from '../index.js';

const file = `
version: 1
rules:
  - { id: restart, match: { program: systemctl, args: [restart, nginx] }, decision: log }
  - { id: sockets, match: { program: ss }, decision: log }
  - { id: fetch, match: { program: wget }, decision: log }
`;

describe('the wall of a command', () => {
  let policy: CommandPolicy;
  beforeAll(async () => {
    policy = openPolicy({ file }, await openBashGrammar());
  });
  const wall = (command: string) => policy.wall({ tool: 'EXEC_CLI', arguments: { command } }, undefined);

  it.each([
    ['cat notes.txt', 'read', []],
    ['cat notes.txt > copy.txt', 'write', []],
    ['ps aux | head', 'read', ['host-processes', 'owners', 'host-devices']],
    ['pgrep -a nginx', 'read', ['host-processes']],
    ['ss -ltn', 'read', ['host-network']],
    ['ss -ltnp; pgrep nginx', 'read', ['host-processes', 'host-network', 'whole-machine']],
    ['timeout 5 pgrep -l x > list.txt', 'write', ['host-processes']],
    ['cat app.log > /tmp/x', 'write', ['host-tmp']],
    ['tail /tmp/x', 'read', ['host-tmp']],
    ['hostname', 'read', []],
    ['hostname -I', 'read', ['host-network']],
  ])('%s: %s, and it sees %j', (command, kind, views) => {
    expect(wallOnly(wall(command))).toEqual({ kind, views });
  });

  it.each([
    ['rm notes.txt', { kind: 'write' }],
    ['rm -r /srv/app/logs/old /srv/app/x', { kind: 'write', writable: ['/srv/app/logs', '/srv/app'] }],
    ['rm /srv/app/../other/*.log', { kind: 'write', writable: ['/srv/other'] }],
    ['truncate -s 0 /srv/app/app.log', { kind: 'write', writable: ['/srv/app'] }],
    ['curl https://example.org', { kind: 'write', internet: true }],
    ['curl -o /srv/app/page https://example.org', { kind: 'write', internet: true, writable: ['/srv/app'] }],
    ['curl https://example.org && rm /srv/x/y', { kind: 'write', internet: true, writable: ['/srv/x'] }],
    ['for f in a b; do du; done', { kind: 'read' }],
    ['ping -c 1 example.org; pgrep x', { kind: 'write', internet: true, views: ['host-processes'] }],
  ])('that a person is asked about, %s, is %j', (command, fits) => {
    expect(wall(command)).toEqual({ views: [], ...fits });
  });

  it.each([
    ['systemctl stop nginx', 'No wall fits: '],
    ['nobody-knows-this', 'No wall fits: '],
    ['x=$(', 'No wall fits: '],
    ['cat /etc/shadow', 'No wall fits: '],
    ['kill 123', 'What it takes away is no place that it names: '],
    ['git clean -fdx', 'What it takes away is no place that it names: '],
    ['docker rm web', 'What it takes away is no place that it names: '],
    ['rm /tmp/x', 'Behind a wall /tmp is another place'],
    ['rm ~/x', 'Behind a wall ~ is another place, or is not known beforehand'],
    ['rm /srv/app-*/logs/x', 'is not known beforehand'],
    ['rm /srv', 'Behind a wall / is another place'],
  ])('that no wall could let work, %s, is none, and says why: %s', (command, why) => {
    expect(wall(command)).toMatchObject({ kind: 'none', reason: expect.stringContaining(why) });
  });

  it('is none where a rule lets run unasked what is more than a write', () => {
    expect(wall('systemctl restart nginx')).toMatchObject({ kind: 'none', views: [] });
    expect(wall('wget https://example.org')).toMatchObject({ kind: 'none', views: [] });
  });

  it('is not wider for a secret that a command is given', () => {
    const env = { TOKEN: { secret: 'api' } };
    const call = { tool: 'EXEC_CLI', arguments: { command: 'curl https://example.org', env } };
    expect(policy.wall(call, undefined)).toEqual({ kind: 'write', views: [], internet: true });
  });

  it('keeps its views where a rule decides', () => {
    expect(wallOnly(wall('ss -ltn'))).toEqual({ kind: 'read', views: ['host-network'] });
  });

  it('says of a line that only tells how the machine is that it does', () => {
    expect(wall('df -h | head')).toMatchObject({ kind: 'read', onlyTells: true });
    for (const line of ['cat notes.txt', 'find /var/log -name x', 'df -h | tee /tmp/x', 'sudo df'])
      expect(wall(line)).not.toHaveProperty('onlyTells');
  });
});
