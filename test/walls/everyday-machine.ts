import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
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
    if (isRoot) spawnSync('chown', ['-R', '-h', `${this.#uid}:${this.#uid}`, this.#root, this.#tmp]);
  }

  /** Names, modes and texts of what lines may write. */
  now(): string {
    const text = `cd ${this.#root}/srv && find . -printf '%p %m %l\\n' | sort && grep -rI . . | sort; cat ${this.#tmp}.errors`;
    return spawnSync('/bin/sh', ['-c', text]).stdout.toString();
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
