import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Objm } from '@nats-io/obj';
import { putArtifact } from '#libs/messaging';
import { startTestBus, type TestBus } from '#libs/testing';
import { ARTIFACTS_BUCKET } from '#proto';
import { runProgram } from '../../run-program.js';
import { fakeTerminal, surroundings } from '../../testing/fake-terminal.js';
import type { Terminal } from '../../terminal/terminal.js';

const content = Buffer.alloc(3_000_000, 'an artifact of some length ');
let bus: TestBus;
let sha256: string;
let directory: string;
beforeAll(async () => {
  bus = await startTestBus();
  ({ sha256 } = await putArtifact(await bus.as('device-agent'), content));
});
afterAll(() => bus.stop());
beforeEach(async () => {
  if (directory !== undefined) await rm(directory, { recursive: true, force: true });
  directory = await mkdtemp(join(tmpdir(), 'orrery-artifacts-'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

/** As a person with the key of the user `cli`, and no more rights than that. */
async function orrery(line: string, overrides: Partial<Terminal> = {}, url = bus.server.url) {
  const terminal = fakeTerminal(overrides);
  const env = { ORRERY_NATS_URL: url, ORRERY_NATS_SEED_FILE: bus.seedFile('cli'), ORRERY_HOME: directory };
  const words = line.split(' ').map((word) => word.replace('DIR', directory));
  const exitCode = await runProgram(words, surroundings(terminal, env));
  return { exitCode, out: terminal.outLines, err: terminal.errLines, bytes: Buffer.concat(terminal.outBytes) };
}

describe('orrery artifacts get', () => {
  it('writes the content into a file', async () => {
    const { exitCode, out } = await orrery(`artifacts get ${sha256} -o DIR/file`);
    expect({ exitCode, out }).toEqual({ exitCode: 0, out: [`3000000 bytes written to ${directory}/file`] });
    expect((await readFile(join(directory, 'file'))).equals(content)).toBe(true);
    expect(await readdir(directory)).toEqual(['file']);
  });

  it('says so as JSON', async () => {
    const { out } = await orrery(`artifacts get ${sha256.toUpperCase()} -o DIR/file --json`);
    expect(JSON.parse(out.join(''))).toEqual({ sha256, bytes: 3_000_000, file: join(directory, 'file') });
  });

  it('writes to a pipe, and to a terminal only when that is said', async () => {
    expect((await orrery(`artifacts get ${sha256}`)).bytes.equals(content)).toBe(true);
    const refused = await orrery(`artifacts get ${sha256}`, { isTerminal: true });
    expect(refused).toMatchObject({ exitCode: 3, err: [expect.stringContaining('name a file with -o')] });
    const wanted = await orrery(`artifacts get ${sha256} -o -`, { isTerminal: true });
    expect(wanted.bytes.equals(content)).toBe(true);
  });

  it('does not overwrite a file', async () => {
    await writeFile(join(directory, 'file'), 'mine');
    const { exitCode, err } = await orrery(`artifacts get ${sha256} -o DIR/file`);
    expect({ exitCode, err }).toEqual({
      exitCode: 3,
      err: [`orrery: ${directory}/file is there already; it is not overwritten.`],
    });
    expect(await readFile(join(directory, 'file'), 'utf8')).toBe('mine');
  });

  it('leaves no file of a content that is not what its name says', async () => {
    const store = await new Objm(await bus.as('admin')).open(ARTIFACTS_BUCKET);
    await store.putBlob({ name: 'f'.repeat(64) }, Buffer.from('something else'));
    const { exitCode, err } = await orrery(`artifacts get ${'f'.repeat(64)} -o DIR/file`);
    expect({ exitCode, err }).toMatchObject({ exitCode: 1, err: [expect.stringContaining('is damaged')] });
    expect(await readdir(directory)).toEqual([]);
  });

  it.each([
    ['nothing that is stored', `artifacts get ${'0'.repeat(64)} -o DIR/file`, 3, 'is not stored'],
    ['no checksum', 'artifacts get ../../etc/passwd -o DIR/file', 3, 'is not the name of an artifact'],
    ['a directory that is not there', `artifacts get SHA -o DIR/no/file`, 1, 'cannot be written'],
    ['JSON and no file', `artifacts get SHA --json`, 3, 'goes into a file'],
  ])('explains %s in one sentence', async (_, line, code, why) => {
    const { exitCode, err } = await orrery(line.replace('SHA', sha256));
    expect({ exitCode, err }).toEqual({ exitCode: code, err: [expect.stringContaining(why)] });
  });

  it('says when nobody answers', async () => {
    expect(await orrery(`artifacts get ${sha256} -o DIR/file`, {}, 'nats://127.0.0.1:1')).toMatchObject({
      exitCode: 4,
    });
  });
});
