import { beforeAll, describe, expect, it } from '@jest/globals';
import { openBashGrammar, openPolicy, type CommandPolicy } from '../index.js';

const file = `
version: 1
rules:
  - { id: restart, match: { program: systemctl, args: [restart, nginx] }, decision: log }
  - { id: sockets, match: { program: ss }, decision: log }
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
    ['rm notes.txt', 'none', []],
    ['nobody-knows-this', 'none', []],
    ['x=$(', 'none', []],
    ['ps aux | head', 'read', ['host-processes']],
    ['ss -ltn', 'read', ['host-network']],
    ['ss -ltnp; ps -e', 'read', ['host-processes', 'host-network', 'privileged-read']],
    ['timeout 5 ps -e > list.txt', 'write', ['host-processes']],
    ['hostname', 'read', []],
    ['hostname -I', 'read', ['host-network']],
  ])('%s: %s, and it sees %j', (command, kind, views) => {
    expect(wall(command)).toEqual({ kind, views });
  });

  it('is no wall where a rule lets through what no wall could let work', () => {
    expect(wall('systemctl restart nginx')).toEqual({ kind: 'none', views: [] });
  });

  it('keeps its views where a rule decides', () => {
    expect(wall('ss -ltn')).toEqual({ kind: 'read', views: ['host-network'] });
  });
});
