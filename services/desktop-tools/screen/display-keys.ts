import { createCipheriv } from 'node:crypto';

const FAMILY_WILD = 0xff_ff;
const COOKIE_NAME = 'MIT-MAGIC-COOKIE-1';
/** The key that every program of VNC hides passwords with, the bits of its bytes turned round: it hides them from a glance only. */
const HIDING_KEY = Buffer.from('e84ad660c4721ae0', 'hex');
const PASSWORD_BYTES = 8;

/** The file of keys by which programs are let in to a display, whatever its number is. */
export function displayAuthority(cookie: Buffer): Buffer {
  const sized = (bytes: Buffer): Buffer[] => [two(bytes.length), bytes];
  const [none, name] = [Buffer.alloc(0), Buffer.from(COOKIE_NAME)];
  return Buffer.concat([two(FAMILY_WILD), ...[none, none, name, cookie].flatMap(sized)]);
}

function two(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(value);
  return bytes;
}

/** A password as servers of VNC read it from a file; only its first eight signs count. */
export function viewPasswordOf(password: string): Buffer {
  const plain = Buffer.alloc(PASSWORD_BYTES);
  Buffer.from(password, 'latin1').copy(plain, 0, 0, PASSWORD_BYTES);
  // Three times the same key is DES once.
  const key = Buffer.concat([HIDING_KEY, HIDING_KEY, HIDING_KEY]);
  const cipher = createCipheriv('des-ede3-ecb', key, null).setAutoPadding(false);
  return Buffer.concat([cipher.update(plain), cipher.final()]);
}
