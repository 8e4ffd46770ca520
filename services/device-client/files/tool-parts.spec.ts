import { describe, expect, it } from '@jest/globals';
import type { ToolPart } from '#libs/mcp';
import { FileName, MediaType } from '#proto';
import { answerPart, bytesOfContent, FileNames, TOOL_FILE_LIMITS, type FilePart } from './tool-parts.js';

const image = (more: object = {}): FilePart =>
  answerPart({ type: 'image', data: 'AAAA', mimeType: 'image/png', ...more }) as FilePart;
const link = (more: object): FilePart => answerPart({ type: 'resource_link', uri: 'x:y', ...more }) as FilePart;
const resource = (fields: object): FilePart => answerPart({ type: 'resource', resource: fields }) as FilePart;

describe('a part of an answer', () => {
  it.each<[string, ToolPart, object]>([
    ['a text', { type: 'text', text: 'a' }, { kind: 'text', text: 'a' }],
    ['an image', { type: 'image', data: 'AAAA' }, { noun: 'image', content: { kind: 'base64', base64: 'AAAA' } }],
    ['a sound', { type: 'audio', data: 'AAAA' }, { noun: 'audio', content: { kind: 'base64' } }],
    ['a resource of text', { type: 'resource', resource: { text: 'a' } }, { content: { kind: 'text', text: 'a' } }],
    ['one of bytes', { type: 'resource', resource: { blob: 'AAAA' } }, { content: { kind: 'base64' } }],
    ['a link', { type: 'resource_link', uri: 'x:y', size: 3 }, { content: { kind: 'link', uri: 'x:y', bytes: 3 } }],
    ['a link with a size that is none', { type: 'resource_link', uri: 'x:y', size: -1 }, { content: { bytes: null } }],
    [
      'a link to nowhere',
      { type: 'resource_link' },
      { content: { kind: 'none', why: 'it is a link without an address' } },
    ],
    ['a text that is none', { type: 'text', text: 1 }, { content: { kind: 'none' } }],
    ['an image that is none', { type: 'image', data: { length: 1 } }, { content: { why: 'it has no content' } }],
    ['a resource that is none', { type: 'resource', resource: 'x' }, { content: { why: 'it has no content' } }],
    ['nothing that is known', { type: 'hologram' }, { content: { why: expect.stringContaining('"hologram"') } }],
  ])('is %s', (_, part, expected) => {
    expect(answerPart(part)).toMatchObject(expected);
  });
});

describe('the name of a file', () => {
  it.each<[string, FilePart, string, boolean]>([
    ['a number where it has none', image(), 'image-1.png', false],
    ['as it is', link({ name: 'Übersicht 2026 (1).csv' }), 'Übersicht 2026 (1).csv', false],
    ['without a path', link({ name: '../../etc/passwd' }), 'passwd', true],
    ['without a path of Windows', link({ name: 'C:\\Users\\x.txt' }), 'x.txt', true],
    ['without what steers a terminal', link({ name: 'a\u001b[2Jb\u0000.txt' }), 'a__2Jb_.txt', true],
    ['without what turns text around', link({ name: 'photo\u202egnp.exe' }), 'photo_gnp.exe', true],
    ['no option and no hidden file', link({ name: '--.-x' }), 'x', true],
    ['a number where nothing is left of it', link({ name: '../..' }), 'resource-1.bin', true],
    ['half a character is none', link({ name: 'a\ud800.txt' }), 'a_.txt', true],
    ['that of its address', resource({ uri: 'file:///tmp/my%20notes.txt?x#y', text: '' }), 'my notes.txt', false],
    ['no path in its address', resource({ uri: 'x://h/a%2F..%2Fb.txt', text: '' }), 'b.txt', true],
    ['its address as it is where it cannot be read', resource({ uri: 'x://h/%zz', text: '' }), '_zz', true],
    ['shorter with its extension', link({ name: `${'x'.repeat(5_000)}.png` }), `${'x'.repeat(96)}.png`, true],
  ])('is %s', (_, part, expected, isOther) => {
    const { name, remarks } = new FileNames().describe(part);
    expect(name).toBe(expected);
    expect(FileName.safeParse(name).success).toBe(true);
    expect(remarks.some((remark) => remark.startsWith('its server calls it'))).toBe(isOther);
  });

  it('is given once in an answer', () => {
    const names = new FileNames();
    const given = [link({ name: 'a.txt' }), link({ name: 'a-2.txt' }), link({ name: 'a.txt' }), image(), image()];
    expect(given.map((part) => names.describe(part).name)).toEqual([
      'a.txt',
      'a-2.txt',
      'a-3.txt',
      'image-1.png',
      'image-2.png',
    ]);
  });

  it.each<[unknown, string, boolean]>([
    ['image/PNG', 'image/png', false],
    ['text/plain; charset=utf-8', 'text/plain', false],
    [undefined, 'application/octet-stream', false],
    ['', 'application/octet-stream', true],
    ['image', 'application/octet-stream', true],
    ['text/html\r\nSet-Cookie: a=b', 'application/octet-stream', true],
    [`${'a'.repeat(100)}/b`, 'application/octet-stream', true],
    [7, 'application/octet-stream', true],
  ])('goes with a media type: %j is %s', (said, expected, isOther) => {
    const { mediaType, remarks } = new FileNames().describe(image({ mimeType: said }));
    expect(mediaType).toBe(expected);
    expect(MediaType.safeParse(mediaType).success).toBe(true);
    expect(remarks.length > 0).toBe(isOther);
  });
});

describe('the content of a file', () => {
  it.each<[string, string]>([
    ['AAEC', '000102'],
    ['AAE=', '0001'],
    ['', ''],
  ])('is what %j says', (base64, hex) => {
    expect(bytesOfContent({ kind: 'base64', base64 })).toEqual({ bytes: Buffer.from(hex, 'hex') });
  });

  it.each(['AAA', 'AA=A', 'AA\nA', '====', 'ÄÄÄÄ', 'A-_A'])('is none of what is no base64: %j', (base64) => {
    expect(bytesOfContent({ kind: 'base64', base64 })).toEqual({ why: 'its content is not base64' });
  });

  it('is none of what is too long, before it is decoded', () => {
    const base64 = '!'.repeat((TOOL_FILE_LIMITS.fileBytesMax / 3) * 4 + 8);
    expect(bytesOfContent({ kind: 'base64', base64 })).toEqual({ why: expect.stringContaining('at most 33554432') });
  });
});
