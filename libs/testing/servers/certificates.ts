import { generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto';
import { isIP } from 'node:net';

/* Certificates for tests, made when they are needed (RFC 5280, DER): no private key is ever checked in. */

/** PEM. */
export interface TestCertificate {
  readonly cert: string;
  readonly key: string;
}

export interface TestAuthority extends TestCertificate {
  /** For a server with these names and addresses, or for a client whose names nobody looks at. */
  issue(...names: readonly string[]): TestCertificate;
}

const DAY_MS = 24 * 60 * 60 * 1_000;
const OID = {
  commonName: '2.5.4.3',
  basicConstraints: '2.5.29.19',
  subjectAltName: '2.5.29.17',
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
} as const;

/** An authority of its own: trusted by nobody who is not told of it. */
export function makeTestAuthority(name = `test authority ${randomBytes(4).toString('hex')}`): TestAuthority {
  const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const ca = extension(OID.basicConstraints, sequence(boolean(true)), true);
  const make = (subject: string, publicKey: KeyObject, more: Buffer): string =>
    certificate({ issuer: name, issuerKey: keys.privateKey, subject, publicKey, extensions: more });
  return {
    cert: make(name, keys.publicKey, ca),
    key: pemOf(keys.privateKey),
    issue: (...names) => {
      const own = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      const alternatives = extension(OID.subjectAltName, sequence(...names.map(generalName)), false);
      return { cert: make(names[0] ?? 'nobody', own.publicKey, alternatives), key: pemOf(own.privateKey) };
    },
  };
}

interface Wanted {
  readonly issuer: string;
  readonly issuerKey: KeyObject;
  readonly subject: string;
  readonly publicKey: KeyObject;
  readonly extensions: Buffer;
}

function certificate({ issuer, issuerKey, subject, publicKey, extensions }: Wanted): string {
  const nowMs = Date.now();
  const algorithm = sequence(objectId(OID.ecdsaWithSha256));
  const toBeSigned = sequence(
    explicit(0, integer(Buffer.from([2]))), // version 3
    integer(Buffer.concat([Buffer.from([1]), randomBytes(15)])),
    algorithm,
    nameOf(issuer),
    sequence(time(nowMs - DAY_MS), time(nowMs + DAY_MS)),
    nameOf(subject),
    publicKey.export({ type: 'spki', format: 'der' }),
    explicit(3, sequence(extensions)),
  );
  const signature = sign('sha256', toBeSigned, issuerKey);
  const base64 = sequence(toBeSigned, algorithm, bitString(signature)).toString('base64');
  return `-----BEGIN CERTIFICATE-----\n${base64.replaceAll(/.{64}/gu, '$&\n').trim()}\n-----END CERTIFICATE-----\n`;
}

const pemOf = (key: KeyObject): string => key.export({ type: 'pkcs8', format: 'pem' }).toString();

/** One value: its tag, its length, what is in it. */
function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

const sequence = (...parts: readonly Buffer[]): Buffer => der(0x30, ...parts);
const integer = (bytes: Buffer): Buffer => der(0x02, bytes);
const boolean = (value: boolean): Buffer => der(0x01, Buffer.from([value ? 0xff : 0]));
const bitString = (bytes: Buffer): Buffer => der(0x03, Buffer.from([0]), bytes);
const explicit = (tag: number, content: Buffer): Buffer => der(0xa0 + tag, content);

/** GeneralizedTime, to the second. */
const time = (ms: number): Buffer =>
  der(0x18, Buffer.from(`${new Date(ms).toISOString().replaceAll(/[-:T]/gu, '').slice(0, 14)}Z`));

const nameOf = (text: string): Buffer =>
  sequence(der(0x31, sequence(objectId(OID.commonName), der(0x0c, Buffer.from(text)))));

const extension = (id: string, content: Buffer, critical: boolean): Buffer =>
  sequence(objectId(id), ...(critical ? [boolean(true)] : []), der(0x04, content));

/** An address of IPv4, or the name of a host. */
const generalName = (name: string): Buffer =>
  isIP(name) === 4 ? der(0x87, Buffer.from(name.split('.').map(Number))) : der(0x82, Buffer.from(name));

function objectId(text: string): Buffer {
  const [first = 0, second = 0, ...rest] = text.split('.').map(Number);
  return der(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]));
}

/** Seven bits a byte; all but the last have the eighth. */
function base128(value: number): number[] {
  const digits = [value & 0x7f];
  for (let left = value >> 7; left > 0; left >>= 7) digits.unshift((left & 0x7f) | 0x80);
  return digits;
}
