import { describe, expect, it } from '@jest/globals';
import { checkWhere, judgeWhere, keysOfWhere, type ProfileTree } from './where.js';

const TREE: ProfileTree = {
  os: 'linux',
  cpu: { count: 8 },
  gpu: { memory_gb: 24, name: 'A10' },
  memory: { gb: 15.5 },
  paths: {},
  roles: ['db', 'web'],
  rack: { row: 7, side: 'left', spare: true },
  version: '1.2',
};

describe('where is asked of a device', () => {
  it.each([
    'profile.gpu.memory_gb >= 24',
    '24 <= profile.gpu.memory_gb',
    'profile.gpu.memory_gb == 24.0',
    'profile.memory.gb > 15',
    'profile.memory.gb > 15 && profile.memory.gb < 15.6',
    'profile.os == "linux"',
    'profile["os"] != "windows"',
    '"db" in profile.roles',
    'profile.roles.exists(role, role.startsWith("w"))',
    'profile.rack.spare',
    '!has(profile.paths.logs)',
    'has(profile.rack.row) && profile.rack.row == 7',
    'profile.gpu.name.matches("^A1")',
    'profile.nothing.at.all > 1 || profile.cpu.count == 8',
    'size(profile.roles) == 2',
    'profile.os in ["linux", "macos"]',
  ])('%s holds', (where) => {
    expect(checkWhere(where)).toBeUndefined();
    expect(judgeWhere(where, TREE)).toEqual({ holds: true });
  });

  it.each([
    ['profile.gpu.memory_gb >= 25', { kind: 'differs', key: 'gpu.memory_gb', words: 'below 25' }],
    ['25 < profile.gpu.memory_gb', { kind: 'differs', key: 'gpu.memory_gb', words: 'not above 25' }],
    ['profile.cpu.count <= 4', { kind: 'differs', key: 'cpu.count', words: 'above 4' }],
    ['profile.os == "macos"', { kind: 'differs', key: 'os', words: 'not "macos"' }],
    ['profile.rack.row != 7', { kind: 'differs', key: 'rack.row', words: '7' }],
    ['profile.os == "linux" && profile.gpu.count > 1', { kind: 'lacks', key: 'gpu.count' }],
    ['profile.paths.logs == "/x"', { kind: 'lacks', key: 'paths.logs' }],
    ['profile.constructor == 1', { kind: 'lacks', key: 'constructor' }],
    ['profile.version >= 2', { kind: 'differs', key: 'version', words: 'of another type than 2' }],
    ['"gpu" in profile.roles', { kind: 'differs', key: 'roles', words: 'without "gpu"' }],
    ['profile.rack.row > 8 || profile.cpu.count > 9', { kind: 'fails', words: 'do not match where' }],
    ['!(profile.gpu.count > 1)', { kind: 'lacks', key: 'gpu.count' }],
    ['has(profile.gpu.count)', { kind: 'fails', words: 'do not match where' }],
  ])('%s does not, and it is said why', (where, miss) => {
    expect(checkWhere(where)).toBeUndefined();
    expect(judgeWhere(where, TREE)).toEqual({ holds: false, ...miss });
  });

  it.each([
    ['profile.gpu.memory_gb >=', /not valid CEL/u],
    ['prfile.os == "linux"', /Unknown variable: prfile .*the variable is profile/u],
    ['result.exit_code == 0', /the variable is profile/u],
    ['profile.cpu.count + 1', /true or false/u],
    ['1 + "a" == 2', /no such overload/u],
    ['true', /says nothing about a device/u],
    ['profile.gpu.memory_gb >= "24"', /is a number, by >= with "24", which is a text/u],
    ['profile.os == 7', /is a text, by == with 7/u],
    ['profile.roles == "db"', /write "db" in profile\.roles/u],
    ['"linux" in profile.os', /no list/u],
    ['[1].exists(profile, profile > 0)', /names a variable profile/u],
    ['profile.os.matches(profile.gpu.name)', /pattern of matches as a text/u],
    [`profile.os == "${'x'.repeat(500)}"`, /longer than 500/u],
  ])('%s is refused', (where, why) => expect(checkWhere(where)).toMatch(why));

  it('needs the names that it reads, and not those that it only asks for', () =>
    expect(keysOfWhere('has(profile.rack) && profile.gpu.memory_gb > 1 || "x" in profile.roles')).toEqual([
      'gpu.memory_gb',
      'roles',
    ]));
});
