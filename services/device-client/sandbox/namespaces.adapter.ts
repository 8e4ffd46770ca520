import { readFile } from 'node:fs/promises';

/** Settings that keep whoever is not root from making namespaces. */
const SETTINGS = [
  {
    name: 'kernel.apparmor_restrict_unprivileged_userns',
    isRefusing: (value: string) => value !== '0',
    help: 'AppArmor lets only programs with a profile that says "userns" make user namespaces: give bwrap one, or set kernel.apparmor_restrict_unprivileged_userns=0',
  },
  {
    name: 'kernel.unprivileged_userns_clone',
    isRefusing: (value: string) => value === '0',
    help: 'set kernel.unprivileged_userns_clone=1',
  },
  {
    name: 'user.max_user_namespaces',
    isRefusing: (value: string) => value === '0',
    help: 'set user.max_user_namespaces to more than 0',
  },
] as const;
const TOO_MANY = /ENOSPC|No space left on device/u;
const AS_ROOT = 'or run the client as root, which needs no user namespace';
/** CAP_SYS_ADMIN (capabilities(7)), without which root mounts nothing. */
const SYS_ADMIN = 1n << 21n;
const CAPABILITIES = /^CapEff:\s*(?<set>[0-9a-f]+)$/mu;

/**
 * What would let a machine make a wall on which no program could, as a sentence; undefined: nothing that is known of. `said`: what the
 * programs said; `read`: a file of /proc, undefined where it is not there.
 */
export async function namespaceHelp(isRoot: boolean, said: string, read = readProc): Promise<string | undefined> {
  if (isRoot) {
    const set = CAPABILITIES.exec((await read('/proc/self/status')) ?? '')?.groups?.['set'];
    return set === undefined || (BigInt(`0x${set}`) & SYS_ADMIN) !== 0n
      ? undefined
      : 'Root has no CAP_SYS_ADMIN here, as in most containers: run the client as another user, whom the engine lets make user namespaces.';
  }
  for (const { name, isRefusing, help } of SETTINGS) {
    const value = await read(`/proc/sys/${name.replaceAll('.', '/')}`);
    if (value !== undefined && isRefusing(value.trim())) return `What would help: ${help}, ${AS_ROOT}.`;
  }
  return TOO_MANY.test(said)
    ? `What would help: a higher user.max_user_namespaces, here or in the namespace around, ${AS_ROOT}.`
    : undefined;
}

const readProc = (path: string): Promise<string | undefined> => readFile(path, 'utf8').catch(() => undefined);
