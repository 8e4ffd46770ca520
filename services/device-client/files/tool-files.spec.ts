import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import type { FileFailure } from '#libs/aip';
import type { ResourceAnswer, ToolAnswer, ToolPart } from '#libs/mcp';
import { pngOf, runOfPng } from '#libs/picture';
import type { ResultFile } from '#proto';
import type { FileLink } from './file-link.client.js';
import { ToolFiles } from './tool-files.client.js';
import { TOOL_FILE_LIMITS } from './tool-parts.js';
import { Redactor } from '../secrets/index.js';

const signal = new AbortController().signal;
const COMMAND = 'r.t.1.0.0';
const refOf = (content: string) => ({
  sha256: createHash('sha256').update(content).digest('hex'),
  bytes: Buffer.byteLength(content),
});
const text = (said: string): ToolPart => ({ type: 'text', text: said });
const image = (content: string, more: object = {}): ToolPart => ({
  type: 'image',
  data: Buffer.from(content).toString('base64'),
  mimeType: 'image/png',
  ...more,
});
const link = (name: string, more: object = {}): ToolPart => ({
  type: 'resource_link',
  uri: `x://${name}`,
  name,
  ...more,
});

interface Given {
  readonly failures?: (FileFailure | null)[];
  readonly read?: (uri: string) => ResourceAnswer;
  readonly commandId?: string | null;
  readonly structured?: { [key: string]: string };
  readonly secret?: string;
  readonly hasScreen?: boolean;
}

/** What a server answers, settled: its value and files, what was stored, and what was asked of the server. */
async function settled(parts: readonly ToolPart[], given: Given = {}) {
  const { failures = [], read, commandId = COMMAND, structured, secret, hasScreen = false } = given;
  const stored: string[] = [];
  const asked: string[] = [];
  const store: FileLink['store'] = async (file, openSource) => {
    const content = Buffer.from(await openSource().read(0, file.bytes)).toString();
    expect(file).toEqual(refOf(content));
    const failure = failures.shift() ?? null;
    if (failure === null) stored.push(content);
    return failure;
  };
  const server = {
    read: (uri: string): Promise<ResourceAnswer> => {
      asked.push(uri);
      return Promise.resolve(read?.(uri) ?? { kind: 'failed', reason: 'there is nothing' });
    },
  };
  const answer = { kind: 'answered', isError: false, value: structured ?? parts, parts } as unknown as ToolAnswer;
  const redactor = secret === undefined ? undefined : new Redactor([['key', secret]]);
  const call = { signal, commandId };
  const done = await new ToolFiles({ store }).settle(answer, call, { server, redactor, hasScreen });
  if (done.kind !== 'answered') throw new Error('it is an answer');
  return { ...done, files: done.files ?? [], stored, asked };
}
const problems = (files: readonly ResultFile[]): (string | undefined)[] => files.map(({ problem }) => problem);

describe('files in the answer of a tool', () => {
  it.each([
    ['of a screen say which run they were taken for', true, 'r'],
    ['of another server are what it gave', false, undefined],
  ])('%s', async (_, hasScreen, run) => {
    const png = pngOf({ width: 1, height: 1, rgb: Uint8Array.of(1, 2, 3) });
    const kept: Uint8Array[] = [];
    const store: FileLink['store'] = async ({ bytes }, openSource) => {
      kept.push(await openSource().read(0, bytes));
      return null;
    };
    const parts = [{ type: 'image', data: png.toString('base64'), mimeType: 'image/png' }];
    const answer = { kind: 'answered', isError: false, value: null, parts } as unknown as ToolAnswer;
    const server = { read: () => Promise.reject(new Error('nothing is linked')) };
    await new ToolFiles({ store }).settle(
      answer,
      { signal, commandId: COMMAND },
      { server, redactor: undefined, hasScreen },
    );
    expect(kept.map((bytes) => runOfPng(bytes))).toEqual([run]);
  });

  it('are stored and named, and stand with their names where they were', async () => {
    const { value, files, stored } = await settled([text('before'), image('one'), text('between'), image('two')]);
    expect(value).toBe('before\n[file image-1.png]\nbetween\n[file image-2.png]');
    expect(files).toEqual([
      { name: 'image-1.png', mediaType: 'image/png', artifact: refOf('one') },
      { name: 'image-2.png', mediaType: 'image/png', artifact: refOf('two') },
    ]);
    expect(stored).toEqual(['one', 'two']);
  });

  it('are beside structured content, which stays what it is', async () => {
    const { value, files } = await settled([text('{"a":"b"}'), image('one')], { structured: { a: 'b' } });
    expect(value).toEqual({ a: 'b' });
    expect(files).toHaveLength(1);
  });

  it('stay as they are for a server that takes none', async () => {
    const { value, files } = await settled([image('one')], { commandId: null });
    expect(value).toEqual([image('one')]);
    expect(files).toEqual([]);
  });

  it.each([
    ['are handed on beside structured content to one that takes none', 'no secret', true],
    ['are not, with a secret of the device in them', 'hunter2hunter2', false],
  ])('%s', async (_, content, isHandedOn) => {
    const given = { commandId: null, structured: { a: 'b' }, secret: 'hunter2hunter2' };
    const { value, parts } = await settled([image(content)], given);
    expect([value, parts]).toEqual([{ a: 'b' }, isHandedOn ? [image(content)] : undefined]);
  });

  it('are all answered for: one that cannot be used takes no other with it', async () => {
    const broken = image('', { data: 'not base64!' });
    const { value, files, stored } = await settled([broken, { type: 'hologram' }, image('one')]);
    expect(value).toBe('[file image-1.png]\n[file part-1.bin]\n[file image-2.png]');
    expect(problems(files)).toEqual([
      'not kept: its content is not base64',
      'not kept: nobody here knows parts of the type "hologram"',
      undefined,
    ]);
    expect(stored).toEqual(['one']);
  });

  it('are so many, and what is more is counted', async () => {
    const { files, stored } = await settled(Array.from({ length: 100 }, (_, index) => image(`image ${index}`)));
    expect(stored).toHaveLength(TOOL_FILE_LIMITS.filesMax);
    expect(files).toHaveLength(TOOL_FILE_LIMITS.filesMax + 1);
    expect(files.at(-1)?.problem).toBe('not kept: 68 more; an answer has at most 32 files');
  });

  it('have a limit together', async () => {
    const half = 'x'.repeat(TOOL_FILE_LIMITS.fileBytesMax);
    const parts = [half, half, 'y'].map((content) => ({ type: 'resource', resource: { text: content } }));
    const { files } = await settled(parts);
    expect(problems(files)).toEqual([
      undefined,
      undefined,
      'not kept: it has 1 bytes, and the files of one answer have at most 67108864',
    ]);
  });

  it('with a secret of the device do not leave it, and nothing of it is in a name', async () => {
    const parts = [image('it is hunter2hunter2!'), image('fine'), link('hunter2hunter2.txt')];
    const { files, stored } = await settled(parts, { secret: 'hunter2hunter2' });
    expect(files[0]?.problem).toBe('not kept: it contains a secret of the device, and does not leave it');
    expect(stored).toEqual(['fine']);
    expect(JSON.stringify(files)).not.toContain('hunter2');
  });

  it('that cannot be stored say why, and the others do not wait for the same', async () => {
    const down = { code: 'STORAGE_FAILED', message: 'the store cannot be reached' };
    const { files, stored } = await settled([image('one'), image('two'), image('three')], { failures: [null, down] });
    const why = 'not kept: the store cannot be reached';
    expect(problems(files)).toEqual([undefined, why, why]);
    expect(stored).toEqual(['one']);
  });
});

describe('links in the answer of a tool', () => {
  it('are read from the server that gave them', async () => {
    const read = (uri: string): ResourceAnswer => ({
      kind: 'read',
      contents: [{ uri, text: 'said', mimeType: 'text/csv' }],
    });
    const { files, asked, value } = await settled([link('a.csv')], { read });
    expect(asked).toEqual(['x://a.csv']);
    expect(files).toEqual([{ name: 'a.csv', mediaType: 'text/csv', artifact: refOf('said') }]);
    expect(value).toBe('[file a.csv]');
  });

  it('may lead to several, or to nothing', async () => {
    const several = (uri: string): ResourceAnswer => ({
      kind: 'read',
      contents: uri === 'x://all' ? [{ text: 'a' }, { uri: 'x://h/b.txt', text: 'b' }] : [],
    });
    const { files } = await settled([link('all'), link('none')], { read: several });
    expect(files.map(({ name }) => name)).toEqual(['all', 'b.txt', 'none']);
    expect(files[2]?.problem).toBe('not kept: "x://none" could not be read: its server has nothing there');
  });

  it('are nobody else’s business: what the server does not give is not fetched', async () => {
    const outside = { uri: 'file:///etc/shadow' };
    const { files, asked, stored } = await settled([
      link('shadow', outside),
      link('page', { uri: 'http://127.0.0.1/' }),
    ]);
    expect(asked).toEqual(['file:///etc/shadow', 'http://127.0.0.1/']);
    expect(files[0]).toEqual({
      name: 'shadow',
      mediaType: 'application/octet-stream',
      problem: 'not kept: "file:///etc/shadow" could not be read: there is nothing',
    });
    expect(stored).toEqual([]);
  });

  it('to more than is taken are not followed', async () => {
    const { files, asked } = await settled([link('huge', { size: 50_000_000 })]);
    expect(asked).toEqual([]);
    expect(files[0]?.problem).toBe('not kept: it has 50000000 bytes, and a file of a tool has at most 33554432');
  });
});
