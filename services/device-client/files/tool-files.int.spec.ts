import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { makeHome, startDevice, type DeviceHome, type DeviceProcess } from '../testing/device-process.js';
import { startScriptedServer, type ScriptedConnection, type ScriptedServer } from '../testing/scripted-server.js';

const serverFile = (name: string): string =>
  fileURLToPath(new URL(`../../../libs/mcp/testing/${name}.ts`, import.meta.url));

let home: DeviceHome;
let server: ScriptedServer;
let device: DeviceProcess;
let connection: ScriptedConnection;

beforeAll(async () => {
  home = await makeHome();
  server = await startScriptedServer();
  const config = join(home.dir, 'tools.yaml');
  const command = process.execPath;
  const mcpServers = {
    media: { command, args: [serverFile('media-server')] },
    hostile: { command, args: [serverFile('hostile-files-server')] },
  };
  // JSON is YAML.
  await writeFile(config, JSON.stringify({ mcpServers }));
  device = startDevice(home, server.url, ['--config', config]);
  ({ connection } = await server.registeredWith('look', 'huge'));
  connection.refusesFiles = false;
});
afterAll(async () => {
  await device.kill('SIGKILL');
  await server.stop();
  await home.remove();
});

const refOf = (content: string) => ({
  sha256: createHash('sha256').update(content).digest('hex'),
  bytes: Buffer.byteLength(content),
});

/** Takes so many files as if each had been there before; what they are is in the order in which they came. */
async function takeFiles(count: number): Promise<{ sha256: string; bytes: number }[]> {
  const taken: { sha256: string; bytes: number }[] = [];
  while (taken.length < count) {
    const { orrery } = await connection.next('file_begin');
    const { transfer_id, sha256, bytes } = orrery;
    taken.push({ sha256, bytes });
    connection.send({ type: 'file_ready', status: 'ok', orrery: { transfer_id, have: true } });
  }
  return taken;
}

describe('what a tool server of a device answers beside text', () => {
  it('is offered to the store of artifacts, and named in the result', async () => {
    connection.command('look', 'look', {});
    const taken = await takeFiles(4);
    const { state, result, files } = await connection.outcome('look');
    expect({ state, result }).toEqual({
      state: 'COMPLETED',
      result:
        'this is the screen\n[file image-1.png]\n[file audio-1.wav]\n[file errors of today.log]\n[file notes.md]\n[file passwd]',
    });
    const kept = [
      { name: 'image-1.png', mediaType: 'image/png', artifact: refOf('a screen of 1 pixel') },
      { name: 'audio-1.wav', mediaType: 'audio/wav', artifact: refOf('a sound of 1 second') },
      { name: 'errors of today.log', mediaType: 'text/plain', artifact: refOf('no errors\n') },
      { name: 'notes.md', mediaType: 'text/markdown', artifact: refOf('# Today\n') },
    ];
    expect(taken).toEqual(kept.map(({ artifact }) => artifact));
    expect(files?.slice(0, 4)).toEqual(kept);
    // The server is asked for it and has none: nobody else reads it.
    expect(files?.slice(4)).toEqual([
      {
        name: 'passwd',
        mediaType: 'application/octet-stream',
        problem: expect.stringMatching(/^not kept: "file:\/\/\/etc\/passwd" could not be read: .*not found/u),
      },
    ]);
  });

  it('is refused with a word where it is hostile, and takes nothing else with it', async () => {
    connection.command('hostile', 'hostile', {});
    await takeFiles(2);
    const { state, result, files } = await connection.outcome('hostile');
    expect({ state, result }).toEqual({
      state: 'COMPLETED',
      result:
        '[file image-1.png]\n[file image-2.bin]\n[file passwd]\n[file __2Jshadow]\n[file part-1.bin]\nthat was all',
    });
    expect(files?.map(({ problem }) => problem)).toEqual([
      'not kept: its content is not base64',
      String.raw`its server says that it is "text/html\r\nSet-Cookie: a=b"`,
      undefined,
      expect.stringContaining('its server has no resources to read; its server calls it'),
      'not kept: nobody here knows parts of the type "hologram"',
    ]);
  });

  it('is counted where it is too much', async () => {
    connection.command('crowd', 'crowd', {});
    await takeFiles(32);
    const { files } = await connection.outcome('crowd');
    expect(files).toHaveLength(33);
    expect(files?.at(-1)?.problem).toBe('not kept: 68 more; an answer has at most 32 files');
  });

  it('ends the call with the reason where it is longer than a message may be', async () => {
    connection.command('huge', 'huge', {});
    expect(await connection.outcome('huge')).toMatchObject({
      state: 'OUTCOME_UNKNOWN',
      error: { code: 'TOOL_SERVER_LOST', message: expect.stringContaining('a message of more than 33554432 bytes') },
    });
  });
});
