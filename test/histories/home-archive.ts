// The home of a system as one file: a tar archive, compressed with Zstandard. What it was made with says nothing about who may read it later.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { constants, createZstdCompress, createZstdDecompress } from 'node:zlib';
import { unprivilegedIds } from '#libs/embedded';

/** Of a system that is stopped: logs say where it ran, and sockets and pids mean nothing to anybody else. */
const LEFT_OUT = ['logs', 'test-devices', '*.log', 'postmaster.opts', 'postmaster.pid', '*.part'];
const LEVEL = 19;

export async function packHome(home: string, file: string): Promise<void> {
  const names = LEFT_OUT.map((name) => `--exclude=${name}`);
  const tar = spawn(
    'tar',
    ['-c', '--sort=name', '--owner=0', '--group=0', '--numeric-owner', ...names, '-C', home, '.'],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const compress = createZstdCompress({
    params: { [constants.ZSTD_c_compressionLevel]: LEVEL, [constants.ZSTD_c_enableLongDistanceMatching]: 1 },
  });
  await Promise.all([whole(tar), pipeline(tar.stdout, compress, createWriteStream(file))]);
}

/** Everything then belongs to whoever runs this; the database of a root user to whom it is run as. */
export async function unpackHome(file: string, home: string): Promise<void> {
  await mkdir(home, { recursive: true });
  const tar = spawn('tar', ['-x', '--no-same-owner', '--preserve-permissions', '-C', home], {
    stdio: ['pipe', 'inherit', 'inherit'],
  });
  await Promise.all([whole(tar), pipeline(createReadStream(file), createZstdDecompress(), tar.stdin)]);
  const ids = unprivilegedIds();
  if (ids === undefined) return;
  await whole(spawn('chown', ['-R', `${ids.uid}:${ids.gid}`, join(home, 'postgres')], { stdio: 'inherit' }));
}

async function whole(program: ChildProcess): Promise<void> {
  const [code] = (await once(program, 'close')) as [number | null];
  if (code !== 0) throw new Error(`${program.spawnfile} ended with ${code}`);
}
