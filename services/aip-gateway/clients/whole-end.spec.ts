import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { taskEndMessage, type ClientTaskEnd } from '#libs/aip';
import { ArtifactError } from '#libs/messaging';
import { AIP_LIMITS, type ArtifactRef, type Json, type TaskResult } from '#proto';
import { isLarge, RESULT_BYTES_MAX, wholeEnd } from './whole-end.js';

const store = new Map<string, Uint8Array>();
const read = async (sha256: string): Promise<Uint8Array> => {
  const content = store.get(sha256);
  if (content === undefined) throw new ArtifactError(sha256, 'is not stored');
  return content;
};

function put(content: string | Uint8Array): ArtifactRef {
  const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content;
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  store.set(sha256, bytes);
  return { sha256, bytes: bytes.length };
}

const ended = (result: TaskResult): Promise<ClientTaskEnd> =>
  wholeEnd({ end: { status: 'completed', result: result.value, error: null }, result }, read);
const shell = (stdout: string, more: Record<string, Json> = {}) => ({ stdout, stderr: '', exit_code: 0, ...more });
/** As the log holds a longer answer. */
const logged = (whole: Json): TaskResult => ({
  value: shell('head ... tail'),
  cut: ['stdout'],
  artifact: put(JSON.stringify(whole)),
});

describe('the end of a task for its client', () => {
  it('has the result as it is when the event holds it', async () => {
    const result = { value: shell('all') };
    expect(isLarge({ end: await ended(result), result })).toBe(false);
    expect(await ended(result)).toEqual({ status: 'completed', result: shell('all'), error: null });
  });

  it.each([16 * 1024 - 1, 16 * 1024 + 1, 500_000])(
    'has the whole of %i bytes, whatever the event holds',
    async (bytes) => {
      const whole = shell('x'.repeat(bytes));
      expect(await ended(logged(whole))).toEqual({ status: 'completed', result: whole, error: null });
    },
  );

  it('has outputs that only the store has, in a frame that its client takes', async () => {
    const stdout = 'line\n'.repeat(1_200_000);
    const artifact = put(stdout);
    const end = await ended(logged(shell('cut', { stdout_bytes: artifact.bytes, stdout_artifact: { ...artifact } })));
    expect(end.cut).toBeUndefined();
    expect((end.result as { stdout: string }).stdout).toBe(stdout);
    const message = taskEndMessage({ sessionId: 's', request: '"'.repeat(20_000) }, end);
    expect(Buffer.byteLength(JSON.stringify(message))).toBeLessThan(AIP_LIMITS.foreignFrameBytesMax);
  });

  it('says how much more there is, and where, when a frame does not carry it', async () => {
    const artifact = put('x'.repeat(RESULT_BYTES_MAX + 1));
    const value = shell('head ... tail', { stdout_bytes: artifact.bytes, stdout_artifact: { ...artifact } });
    const end = await ended({ value });
    const message = expect.stringContaining(
      `has ${artifact.bytes} bytes, and this is a part of it; the whole is the artifact ${artifact.sha256}`,
    );
    expect(end).toMatchObject({ status: 'completed', result: value, cut: { field: 'stdout', ...artifact, message } });
    expect(taskEndMessage({ sessionId: 's', request: 'r' }, end).result).toEqual([
      { request: 'r', result: value, cut: end.cut },
    ]);
  });

  it('counts what escapes make of it: line ends are two bytes in a frame', async () => {
    const artifact = put('\n'.repeat(RESULT_BYTES_MAX / 2 + 1));
    const end = await ended({ value: shell('', { stdout_bytes: artifact.bytes, stdout_artifact: { ...artifact } }) });
    expect(end.cut).toMatchObject(artifact);
  });

  it('says so when a result is gone, no text, not kept whole, or was cut by its device', async () => {
    const gone = { sha256: 'f'.repeat(64), bytes: 70_000 };
    expect((await ended({ ...logged('x'), artifact: gone })).cut).toMatchObject(gone);
    const noText = put(Uint8Array.of(0xff, 0xfe));
    expect((await ended({ value: shell('\uFFFD', { stdout_artifact: { ...noText } }) })).cut).toMatchObject(noText);
    const lost = { sha256: null, message: 'stdout of the result has 900 bytes, and this is a part of it' };
    expect((await ended({ value: shell('head', { stdout_bytes: 900 }) })).cut).toMatchObject(lost);
    const cut = { field: 'text', message: 'text of the result is not kept whole' };
    expect((await ended({ value: { text: 'head' }, incomplete: ['text'] })).cut).toMatchObject(cut);
  });

  it('waits for a store that is away', async () => {
    const away = () => Promise.reject(new Error('timeout'));
    const result = logged(shell('x'));
    const end = { status: 'completed', result: result.value, error: null } as const;
    await expect(wholeEnd({ end, result }, away)).rejects.toThrow('timeout');
  });
});
