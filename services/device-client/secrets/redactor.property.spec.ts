import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { RedactedStream, Redactor } from './redactor.js';

const whole = (redactor: Redactor, text: string | Buffer): string => pieces(redactor, [Buffer.from(text)]);

function pieces(redactor: Redactor, chunks: readonly Buffer[]): string {
  const stream = new RedactedStream(redactor);
  return Buffer.concat([...chunks.map((chunk) => Buffer.from(stream.push(chunk))), stream.end()]).toString('latin1');
}

/** Cut at the given places. */
function cut(bytes: Buffer, at: readonly number[]): Buffer[] {
  const places = [0, ...at.map((place) => place % (bytes.length + 1)).toSorted((a, b) => a - b), bytes.length];
  return places.slice(1).map((end, index) => bytes.subarray(places[index], end));
}

// Few letters, so that values, their beginnings and each other's parts meet often.
const value = fc.string({ unit: fc.constantFrom('a', 'b', 'é', '\n', '"', ' '), minLength: 6, maxLength: 20 });
const secrets = fc.array(value, { minLength: 1, maxLength: 3 });
const textAround = (values: readonly string[]) =>
  fc
    .array(
      fc.oneof(
        fc.constantFrom(...values),
        fc.constantFrom(...values.map((text) => Buffer.from(text).toString('base64'))),
        fc.constantFrom(...values.map((text) => Buffer.from(text).toString('hex'))),
        fc.constantFrom(...values.map((text) => text.slice(0, -1))),
        fc.string({ unit: fc.constantFrom('a', 'b', 'é', '\n', 'Y', '6'), maxLength: 6 }),
      ),
      { maxLength: 8 },
    )
    .map((parts) => parts.join(''));
const cases = secrets.chain((values) =>
  fc.tuple(fc.constant(values), textAround(values), fc.array(fc.nat(), { maxLength: 40 })),
);

describe('redaction', () => {
  it('does not depend on how the bytes are cut', () =>
    fc.assert(
      fc.property(cases, ([values, text, at]) => {
        const redactor = new Redactor(values.map((secret, index) => [`s${index}`, secret]));
        const bytes = Buffer.from(text);
        expect(pieces(redactor, cut(bytes, at))).toBe(whole(redactor, bytes));
      }),
      { seed: 11, numRuns: 600 },
    ));

  it('leaves no value, in none of its forms, and nothing else out', () =>
    fc.assert(
      fc.property(cases, ([values, text]) => {
        const redactor = new Redactor(values.map((secret, index) => [`s${index}`, secret]));
        const out = Buffer.from(whole(redactor, text), 'latin1').toString('utf8');
        const between = out.split(/\[secret:s\d\]/);
        for (const secret of values) {
          const bytes = Buffer.from(secret);
          for (const form of [secret, bytes.toString('base64'), bytes.toString('hex')]) {
            for (const part of between) expect(part).not.toContain(form);
          }
        }
        // What is between the marks is there, in its order.
        let from = 0;
        for (const part of between) {
          const found = text.indexOf(part, from);
          expect(found).toBeGreaterThanOrEqual(from);
          from = found + part.length;
        }
      }),
      { seed: 12, numRuns: 600 },
    ));

  it('holds back only what may become a value', () => {
    const stream = new RedactedStream(new Redactor([['k', 'canary-4711']]));
    const push = (text: string): string => stream.push(Buffer.from(text)).toString();
    expect(push('Hello\ncan')).toBe('Hello\n');
    expect(push('dy, canary-47')).toBe('candy, ');
    expect(push('11!')).toBe('[secret:k]!');
    expect(push('canary')).toBe('');
    expect(stream.end().toString()).toBe('canary');
  });
});

const SECRET = 'Canary "4711" /+? äöü';
const one = new Redactor([['key', SECRET]]);
const encoded = (bytes: Buffer, encoding: BufferEncoding): string => bytes.toString(encoding);
const forms: [string, string][] = [
  ['as it is', SECRET],
  ['in base64', encoded(Buffer.from(SECRET), 'base64')],
  ['in base64 with a line end', encoded(Buffer.from(`${SECRET}\n`), 'base64')],
  ['in base64 after a name', encoded(Buffer.from(`user:${SECRET}`), 'base64')],
  ['in base64 after a longer name', encoded(Buffer.from(`users:${SECRET}`), 'base64')],
  ['in base64url', encoded(Buffer.from(`a:${SECRET}`), 'base64url')],
  ['in base64 with line breaks', encoded(Buffer.from(SECRET), 'base64').replaceAll(/.{10}/g, '$&\n')],
  ['in hexadecimal', encoded(Buffer.from(SECRET), 'hex')],
  ['in capital hexadecimal', encoded(Buffer.from(SECRET), 'hex').toUpperCase()],
  ['in groups as xxd makes them', encoded(Buffer.from(SECRET), 'hex').replaceAll(/..../g, '$& ')],
  [
    'in lines as od makes them',
    encoded(Buffer.from(SECRET), 'hex').replaceAll(/../g, ' $&').replaceAll(/.{30}/g, '$&\n'),
  ],
  ['escaped byte by byte', encoded(Buffer.from(SECRET), 'hex').replaceAll(/../g, '\\x$&')],
  ['in a URL', encodeURIComponent(SECRET)],
  ['in a form', encodeURIComponent(SECRET).replaceAll('%20', '+')],
  ['in JSON', JSON.stringify({ a: SECRET })],
];

describe('a value', () => {
  it.each(forms)('is found %s', (_, text) => {
    const out = Buffer.from(whole(one, `<${text}>`), 'latin1').toString();
    expect(out).toContain('[secret:key]');
    // Of base64 a digit or two at the edges belongs to its neighbours as well.
    expect(out.replace('[secret:key]', '').length).toBeLessThan(20);
  });

  it('that contains another one is the one that is named', () => {
    const two = new Redactor([
      ['short', 'secret-1'],
      ['long', 'secret-1-and-more'],
    ]);
    expect(whole(two, 'secret-1-and-more secret-1-and-mor')).toBe('[secret:long] [secret:short]-and-mor');
  });

  it('of several lines is found line by line', () => {
    const key = new Redactor([['pem', '-----BEGIN KEY-----\nMIIEvQIBADANBgkq\nhkiG9w0BAQEFAASC\n-----END KEY-----']]);
    expect(whole(key, '-----BEGIN KEY-----\n1: MIIEvQIBADANBgkq\n2: hkiG9w0BAQEFAASC')).toBe(
      '-----BEGIN KEY-----\n1: [secret:pem]\n2: [secret:pem]',
    );
  });

  it('is found in texts, keys and numbers of an answer', () => {
    const pin = new Redactor([['pin', '471108']]);
    expect(pin.json({ a: ['x 471108', 471_108, 4711, null, true], 471108: 'b' })).toEqual({
      a: ['x [secret:pin]', '[secret:pin]', 4711, null, true],
      '[secret:pin]': 'b',
    });
  });
});

describe('a text without any', () => {
  it('stays as it is, also when it is not well formed', () => {
    const odd = 'a\ud83d';
    expect(one.text(odd)).toBe(odd);
  });
});
