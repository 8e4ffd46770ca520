import { expect, it } from '@jest/globals';
import { namespaceHelp } from './index.js';

const status = (set: string): string => `Name:\tnode\nCapEff:\t${set}\nCapBnd:\t000001ffffffffff\n`;

it.each([
  [
    'Ubuntu with AppArmor',
    {
      '/proc/sys/kernel/apparmor_restrict_unprivileged_userns': '1\n',
      '/proc/sys/user/max_user_namespaces': '96365\n',
    },
    'bwrap: setting up uid map: Permission denied.',
    /AppArmor .*userns.*or run the client as root/u,
  ],
  [
    'an older Debian',
    { '/proc/sys/kernel/unprivileged_userns_clone': '0\n' },
    'unshare: unshare failed: Operation not permitted.',
    /kernel\.unprivileged_userns_clone=1/u,
  ],
  [
    'none allowed',
    { '/proc/sys/user/max_user_namespaces': '0\n' },
    'unshare: unshare failed: No space left on device.',
    /user\.max_user_namespaces to more than 0/u,
  ],
  [
    'all used up in a namespace around',
    { '/proc/sys/user/max_user_namespaces': '96365\n' },
    'bwrap: Creating new namespace failed: nesting depth or /proc/sys/user/max_*_namespaces exceeded (ENOSPC).',
    /a higher user\.max_user_namespaces/u,
  ],
])(
  'says to who is not root what would let him make a wall: %s',
  async (_, files: Record<string, string>, said, help) => {
    expect(await namespaceHelp(false, said, (path) => Promise.resolve(files[path]))).toMatch(help);
  },
);

it.each([
  [false, 'Device or resource busy', status('0000000000000000')],
  [true, 'Operation not permitted', status('000001ffffffffff')],
  [true, 'Operation not permitted', 'nothing of that kind'],
])('and guesses nothing (root: %s, %s)', async (isRoot, said, file) => {
  const read = (path: string): Promise<string | undefined> =>
    Promise.resolve(path === '/proc/self/status' ? file : undefined);
  expect(await namespaceHelp(isRoot, said, read)).toBeUndefined();
});

it('says to root in a container that it is not root enough', async () => {
  const read = (): Promise<string> => Promise.resolve(status('00000000a80425fb'));
  expect(await namespaceHelp(true, 'Operation not permitted', read)).toContain('Root has no CAP_SYS_ADMIN here');
});
