import { mkdtemp, readdir, rm, writeFile, chmod } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Client } from 'pg';
import { ownPort } from '#libs/testing';
import { startPostgres, stopPostgresOn, type EmbeddedPostgresOptions } from './postgres.runner.js';
import type { ServerHandle } from './server-process.js';

let directory = '';
const handles: ServerHandle[] = [];

async function start(change: Partial<EmbeddedPostgresOptions> = {}): Promise<ServerHandle> {
  const dataDir = join(directory, 'data');
  const options = { dataDir, user: 'orrery', password: 'se/cr@t', database: 'orrery', dieWithParent: true };
  const handle = await startPostgres({ ...options, ...change });
  handles.push(handle);
  return handle;
}

async function query(url: string, sql: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows.flatMap((row) => Object.values(row));
  } finally {
    await client.end();
  }
}

// One cluster for the file: making one takes longer than all the rest. Each test leaves it startable.
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'orrery-postgres-'));
  await chmod(directory, 0o755);
});
afterEach(async () => {
  await Promise.all(handles.splice(0).map((handle) => handle.stop()));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

describe('startPostgres', () => {
  it('makes a cluster and a database that only this machine reaches, by password', async () => {
    const { url } = await start();
    expect(await query(url, 'select current_database()')).toEqual(['orrery']);
    expect(await query(url, 'show listen_addresses')).toEqual(['127.0.0.1']);
    expect(await query(url, 'show unix_socket_directories')).toEqual(['']);
    expect(await query(url, 'show max_connections')).toEqual(['200']);
    await expect(query(url.replace('se%2Fcr%40t', 'wrong'), 'select 1')).rejects.toMatchObject({ code: '28P01' });
  });

  it('leaves no password file behind', async () => {
    expect(await readdir(directory)).toEqual(['data', 'data.log']);
  });

  it('takes over the server an earlier launcher left', async () => {
    const first = await start();
    const second = await start({ database: 'another' });
    expect(second).toMatchObject({ pid: first.pid, port: first.port, reattached: true });
    expect(await query(second.url, 'select current_database()')).toEqual(['another']);
    await second.stop();
    expect(await first.exited).toBe(0);
  });

  it('keeps what was committed before kill -9', async () => {
    const first = await start();
    await query(first.url, 'create table facts as select 42 as fact');
    first.kill();
    await first.exited;
    const second = await start();
    expect(second.reattached).toBe(false);
    expect(await query(second.url, 'select fact from facts')).toEqual([42]);
  });

  it('starts although its old pid now belongs to another program', async () => {
    await writeFile(join(directory, 'data', 'postmaster.pid'), `${process.pid}\n${directory}/data\n0\n5432\n`);
    expect(await start()).toMatchObject({ reattached: false });
  });

  it('moves to the port asked for', async () => {
    const first = await start();
    const port = await ownPort();
    const second = await start({ port });
    expect(second).toMatchObject({ port, reattached: false });
    expect(await first.exited).toBe(0);
  });

  it('says which port is taken', async () => {
    const holder = createServer();
    await new Promise<void>((resolve) => holder.listen(0, '127.0.0.1', resolve));
    const { port } = holder.address() as AddressInfo;
    await expect(start({ port })).rejects.toThrow(`Port ${port} for PostgreSQL is in use`);
    await new Promise((resolve) => holder.close(resolve));
  });

  it('says that the password is not the one of the cluster, and leaves no server behind', async () => {
    await expect(start({ password: 'other' })).rejects.toThrow('The password is not the one');
    expect(await stopPostgresOn(join(directory, 'data'))).toBe(false);
  });

  it('is stopped by its directory', async () => {
    const { exited } = await start();
    expect(await stopPostgresOn(join(directory, 'data'))).toBe(true);
    expect(await exited).toBe(0);
  });

  it.each(['a"b', '', 'a b', '-x'])('refuses %p as a database name', async (database) => {
    await expect(start({ database })).rejects.toThrow(RangeError);
  });

  // Only root can be in this trap: it may write where the user PostgreSQL runs as may not even look.
  (process.getuid?.() === 0 ? it : it.skip)('says that a private parent directory is in the way', async () => {
    const secret = await mkdtemp(join(tmpdir(), 'orrery-private-'));
    await expect(start({ dataDir: join(secret, 'data') })).rejects.toThrow('a parent directory is private');
    await rm(secret, { recursive: true });
  });
});
