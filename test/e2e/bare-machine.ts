import { createHash } from 'node:crypto';
import { chmod, cp, mkdir, mkdtemp, readFile, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { execa } from 'execa';
import type { DeviceOffer } from '#proto';

const ROOT = resolve(import.meta.dirname, '../..');
const CLIENT = 'dist/services/device-client';
/** All that the printed lines and the script may use. */
const TOOLS =
  'sh curl tar gzip sha256sum mktemp rm mv mkdir uname id grep readlink dirname sync tail mount unshare bwrap setpriv'.split(
    ' ',
  );
/** Nothing that is installed is seen outside, and nothing of this machine is in the way. */
const APART = 'mount -t tmpfs tmpfs /usr/local; [ ! -d /run/systemd/system ] || mount -t tmpfs tmpfs /run/systemd; ';

/** This machine, as one sees it that has neither Node nor anything of ours. */
export class BareMachine {
  readonly dir: string;
  readonly #base: string;

  private constructor(base: string) {
    this.#base = base;
    this.dir = join(base, 'opt');
  }

  static async make(): Promise<BareMachine> {
    const base = await mkdtemp(join(tmpdir(), 'orrery-bare-'));
    await mkdir(join(base, 'bin'));
    for (const tool of TOOLS) {
      const { stdout, failed } = await execa('sh', ['-c', `command -v ${tool}`], {
        env: { PATH: '/usr/bin:/bin' },
        extendEnv: false,
        reject: false,
      });
      if (!failed) await symlink(stdout, join(base, 'bin', tool));
    }
    return new BareMachine(base);
  }

  /** Runs lines as somebody pastes them. */
  async run(lines: string) {
    const others = process.geteuid?.() === 0 ? [] : ['--user', '--map-root-user'];
    const { exitCode, stdout, stderr } = await execa(
      'unshare',
      [...others, '--mount', 'sh', '-c', `${APART}\n${lines}`],
      {
        env: { PATH: join(this.#base, 'bin'), HOME: this.#base },
        extendEnv: false,
        cwd: '/',
        stdin: 'ignore',
        reject: false,
        localDir: '/usr/bin',
        preferLocal: true,
      },
    );
    return { exitCode, stdout, stderr };
  }

  device(...words: string[]) {
    return this.run(`exec ${this.dir}/current/bin/orrery-device ${words.join(' ')}`);
  }
}

/** What this checkout offers, in a directory of its own where a test may offer something else. */
export async function ownOffer(dir: string): Promise<string> {
  const env = { ORRERY_DEVICE_OFFER: '' };
  const { stdout } = await execa(process.execPath, [join(ROOT, 'tools/device-archive.mjs')], { env });
  const offer = JSON.parse(stdout) as DeviceOffer;
  for (const { file } of [offer.script, ...Object.values(offer.archives)]) {
    await symlink(join(ROOT, '.cache/device-archive', file), join(dir, file));
  }
  await writeFile(join(dir, 'offer.json'), stdout);
  return offer.release;
}

/** Offers a release whose client ends as soon as it is started. */
export async function offerBroken(dir: string, machine: BareMachine, release: string): Promise<void> {
  const tree = await mkdtemp(join(tmpdir(), 'orrery-broken-'));
  await mkdir(join(tree, 'bin'));
  await cp(join(ROOT, CLIENT, 'main.js'), join(tree, CLIENT, 'main.js'));
  await cp(join(ROOT, CLIENT, 'main.cjs'), join(tree, CLIENT, 'main.cjs'));
  await writeFile(join(tree, 'package.json'), JSON.stringify({ type: 'module', version: '9.9.9', release }));
  const node = `${machine.dir}/current/bin/node`;
  const starter = `#!/bin/sh\nhere=$(dirname "$(readlink -f "$0")")\n[ "$1" != run ] || exit 1\nexec NODE_HERE "$here/../${CLIENT}/main.js" "$@"\n`;
  const { stdout: nodeNow } = await execa('readlink', ['-f', node]);
  await writeFile(join(tree, 'bin/orrery-device'), starter.replace('NODE_HERE', nodeNow));
  await chmod(join(tree, 'bin/orrery-device'), 0o755);
  await execa('tar', ['-czf', join(dir, 'broken.tar.gz'), '-C', tree, '.']);
  const sha = (bytes: Buffer | string): string => createHash('sha256').update(bytes).digest('hex');
  const archive = await readFile(join(dir, 'broken.tar.gz'));
  const platform = `linux-${process.arch}`;
  const text = (await readFile(join(ROOT, 'deploy/device/install.sh'), 'utf8'))
    .replace('@RELEASE@', release)
    .replace('@ARCHIVES@', `${platform} broken.tar.gz ${sha(archive)}`);
  await writeFile(join(dir, 'broken.sh'), text);
  const offer = {
    release,
    script: { file: 'broken.sh', sha256: sha(text), bytes: Buffer.byteLength(text) },
    archives: { [platform]: { file: 'broken.tar.gz', sha256: sha(archive), bytes: archive.length } },
  };
  await writeFile(join(dir, 'offer.json'), JSON.stringify(offer));
}
