import { isUtf8 } from 'node:buffer';
import {
  chmodSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { type ClientKind, isRoot, Walled } from './walled.js';

const FILES: Readonly<Record<string, string>> = {
  'srv/app/config.yml': 'debug: true\nport: 8080\n',
  'srv/app/docker-compose.yml': 'services: {}\n',
  'srv/app/app.conf': 'listen 8080\n',
  'srv/app/a.conf': 'a 1\n',
  'srv/app/b.conf': 'b 1\n',
  'srv/app/conf/site.conf': 'listen 80;\n',
  'srv/app/README.md': '# App\n',
  'srv/app/config.json': '{"version":"1"}\n',
  'srv/app/package.json': '{"version":"2"}\n',
  'srv/app/old.log': 'old\n',
  'srv/app/releases/42/app': 'x\n',
  'srv/backup/README': 'x\n',
  'jail/SHA256SUMS': '',
};

/** An application and a temporary file of this test, in the places that everyday lines name. */
export class EverydayMachine {
  readonly #root = mkdtempSync('/var/tmp/orrery-everyday-');
  readonly #tmp = `/tmp/${this.#root.slice('/var/tmp/'.length)}`;
  readonly #uid: number;

  constructor(uid: number) {
    this.#uid = uid;
  }

  /** A line as it is run here; what only waits waits for less. */
  placed(command: string): string {
    return command
      .replaceAll('/srv', join(this.#root, 'srv'))
      .replaceAll('/tmp/orrery-everyday.log', this.#tmp)
      .replaceAll('/tmp/errors.txt', `${this.#tmp}.errors`)
      .replace(/^(?<meter>vmstat|iostat -x) 1 \d$/u, '$<meter> 1 1');
  }

  /** As before every line that writes. */
  make(): void {
    for (const name of ['srv', 'jail']) rmSync(join(this.#root, name), { recursive: true, force: true });
    for (const [path, content] of Object.entries(FILES)) {
      mkdirSync(dirname(join(this.#root, path)), { recursive: true });
      writeFileSync(join(this.#root, path), content);
    }
    symlinkSync('releases/42', join(this.#root, 'srv/app/current'));
    writeFileSync(this.#tmp, 'an error\n');
    rmSync(`${this.#tmp}.errors`, { force: true });
    chmodSync(this.#root, 0o755);
    if (!isRoot) return;
    for (const path of [this.#root, ...below(this.#root), this.#tmp]) lchownSync(path, this.#uid, this.#uid);
  }

  /** Names, modes and texts of what lines may write. */
  now(): string {
    const all = [...below(join(this.#root, 'srv')), `${this.#tmp}.errors`];
    return all.map((path) => `${path} ${seen(path)}\n`).join('');
  }

  walled(client: ClientKind): Promise<Walled> {
    this.make();
    const [data, work, srv] = ['data', 'jail', 'srv'].map((name) => join(this.#root, name)) as [string, string, string];
    mkdirSync(data, { recursive: true });
    return Walled.open(client, { data, work, home: work, writable: [srv], secrets: [], uid: this.#uid });
  }

  end(): void {
    for (const path of [this.#root, this.#tmp, `${this.#tmp}.errors`]) rmSync(path, { recursive: true, force: true });
  }
}

const below = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .sort();

/** What is no text (an archive, say) can be another one each time that it is made. */
function seen(path: string): string {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return 'is not there';
  const mode = stats.mode.toString(8);
  if (stats.isSymbolicLink()) return `${mode} ${readlinkSync(path)}`;
  const content = stats.isFile() ? contentOf(path) : Buffer.of();
  return `${mode} ${isUtf8(content) && !content.includes(0) ? content.toString() : ''}`;
}

/** Nothing of what somebody has closed. */
function contentOf(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch {
    return Buffer.of();
  }
}
