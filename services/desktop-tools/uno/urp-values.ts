/*
 * How LibreOffice writes values on a pipe (URP, the protocol of its objects): so much of it as a spreadsheet is read and written
 * with. A type is the name that it has there; what is neither simple, a list nor in `STRUCTS` is an object.
 */

/** An object on the other side. */
export interface UnoObject {
  readonly oid: string;
  readonly type: string;
}
/** A value whose type goes with it. */
export interface UnoAny {
  readonly type: string;
  readonly value: UnoValue;
}
export type UnoValue = null | boolean | number | string | UnoObject | UnoAny | readonly UnoValue[];

const SIMPLE = [
  'void',
  'char',
  'boolean',
  'byte',
  'short',
  'unsigned short',
  'long',
  'unsigned long',
  'hyper',
  'unsigned hyper',
  'float',
  'double',
  'string',
  'type',
  'any',
];
const CLASS = { enum: 15, struct: 17, exception: 19, sequence: 20, interface: 22 } as const;
const LAST_SIMPLE = SIMPLE.length - 1;
const STATE = 'com.sun.star.beans.PropertyState';
const STRUCTS: Readonly<Record<string, readonly string[]>> = {
  'com.sun.star.beans.PropertyValue': ['string', 'long', 'any', STATE],
  'com.sun.star.table.CellRangeAddress': ['short', 'long', 'long', 'long', 'long'],
};

const NEW = 0x80;
/** Neither side has to remember it. */
const NOT_KEPT = 0xff_ff;
const LONG_NUMBER = 0xff;

export const objectIn = (value: UnoValue): UnoObject | undefined =>
  typeof value === 'object' && value !== null && 'oid' in value && value.oid !== '' ? value : undefined;

const classOf = (type: string): number => {
  const simple = SIMPLE.indexOf(type);
  if (simple !== -1) return simple;
  if (type.startsWith('[]')) return CLASS.sequence;
  if (type === STATE) return CLASS.enum;
  return type in STRUCTS ? CLASS.struct : CLASS.interface;
};

/** Writes values; what others wrote before is not referred to. */
export class UnoWriter {
  readonly #parts: Buffer[] = [];

  bytes(): Buffer {
    return Buffer.concat(this.#parts);
  }

  byte(value: number): this {
    this.#parts.push(Buffer.of(value));
    return this;
  }

  type(type: string): this {
    const of = classOf(type);
    return of <= LAST_SIMPLE
      ? this.byte(of)
      : this.byte(of | NEW)
          .#short(NOT_KEPT)
          .#string(type);
  }

  /** An object by its name; empty: none. */
  object(oid: string): this {
    return this.#string(oid).#short(NOT_KEPT);
  }

  /** A thread by its name. */
  thread(id: Buffer): this {
    this.#count(id.length).#parts.push(id);
    return this.#short(NOT_KEPT);
  }

  value(type: string, value: UnoValue): this {
    switch (type) {
      case 'void':
        return this;
      case 'boolean':
        return this.byte(value === true ? 1 : 0);
      case 'short':
        return this.#short(Number(value) & NOT_KEPT);
      case 'long':
      case STATE:
        return this.#number(4, (bytes) => bytes.writeInt32BE(Number(value)));
      case 'double':
        return this.#number(8, (bytes) => bytes.writeDoubleBE(Number(value)));
      case 'string':
        return this.#string(typeof value === 'string' ? value : '');
      case 'type':
        return this.type(typeof value === 'string' ? value : 'void');
      case 'any': {
        const any = isAny(value) ? value : { type: 'void', value: null };
        return this.type(any.type).value(any.type, any.value);
      }
      default:
        return this.#composed(type, value);
    }
  }

  #composed(type: string, value: UnoValue): this {
    if (classOf(type) === CLASS.interface) return this.object(objectIn(value)?.oid ?? '');
    const items = isList(value) ? value : [];
    const members = STRUCTS[type];
    if (members === undefined) {
      this.#count(items.length);
      for (const item of items) this.value(type.slice(2), item);
    } else for (const [index, member] of members.entries()) this.value(member, items[index] ?? null);
    return this;
  }

  #string(text: string): this {
    const bytes = Buffer.from(text.toWellFormed());
    this.#count(bytes.length).#parts.push(bytes);
    return this;
  }

  #count(count: number): this {
    if (count < LONG_NUMBER) return this.byte(count);
    return this.byte(LONG_NUMBER).#number(4, (bytes) => bytes.writeUInt32BE(count));
  }

  #short(value: number): this {
    return this.#number(2, (bytes) => bytes.writeUInt16BE(value));
  }

  #number(size: number, write: (bytes: Buffer) => void): this {
    const bytes = Buffer.alloc(size);
    write(bytes);
    this.#parts.push(bytes);
    return this;
  }
}

/** What the other side refers to again by a number. */
export class UnoMemory {
  readonly types = new Map<number, string>();
  readonly objects = new Map<number, string>();
  readonly threads = new Map<number, Buffer>();
}

/** Reads values. Throws a RangeError at what ends too early or refers to nothing. */
export class UnoReader {
  readonly #bytes: Buffer;
  readonly #memory: UnoMemory;
  #at = 0;

  constructor(bytes: Buffer, memory: UnoMemory) {
    this.#bytes = bytes;
    this.#memory = memory;
  }

  byte(): number {
    return this.#take(1).readUInt8();
  }

  short(): number {
    return this.#take(2).readUInt16BE();
  }

  type(): string {
    const first = this.byte();
    const of = first & ~NEW;
    if (of <= LAST_SIMPLE) return SIMPLE[of] ?? 'void';
    const at = this.short();
    return kept(this.#memory.types, at, (first & NEW) === 0 ? undefined : this.#string());
  }

  object(): string {
    const name = this.#string();
    const at = this.short();
    return name === '' && at === NOT_KEPT ? '' : kept(this.#memory.objects, at, name === '' ? undefined : name);
  }

  thread(): Buffer {
    const id = this.#take(this.#count());
    const at = this.short();
    return kept(this.#memory.threads, at, id.length === 0 ? undefined : id);
  }

  value(type: string): UnoValue {
    switch (type) {
      case 'void':
        return null;
      case 'boolean':
        return this.byte() !== 0;
      case 'byte':
        return this.byte();
      case 'short':
        return this.#take(2).readInt16BE();
      case 'long':
      case STATE:
        return this.#take(4).readInt32BE();
      case 'double':
        return this.#take(8).readDoubleBE();
      case 'string':
        return this.#string();
      case 'any': {
        const of = this.type();
        return { type: of, value: this.value(of) };
      }
      default:
        return this.#composed(type);
    }
  }

  #composed(type: string): UnoValue {
    const of = classOf(type);
    if (of === CLASS.sequence) return Array.from({ length: this.#count() }, () => this.value(type.slice(2)));
    if (of === CLASS.struct) return (STRUCTS[type] ?? []).map((member) => this.value(member));
    if (of !== CLASS.interface) throw new RangeError(`values of the type ${type} are not read`);
    return { oid: this.object(), type };
  }

  /** The sentence of an error: what stands behind it is not read. */
  failure(): string {
    this.type();
    return this.#string();
  }

  #string(): string {
    return this.#take(this.#count()).toString('utf8');
  }

  #count(): number {
    const first = this.byte();
    const count = first === LONG_NUMBER ? this.#take(4).readUInt32BE() : first;
    // Each item takes a byte at the least, and no list is longer than what is there.
    if (count > this.#bytes.length) throw new RangeError('it says that more follows than there is');
    return count;
  }

  #take(count: number): Buffer {
    const end = this.#at + count;
    if (end > this.#bytes.length) throw new RangeError('it ends too early');
    const part = this.#bytes.subarray(this.#at, end);
    this.#at = end;
    return part;
  }
}

const isList = (value: UnoValue): value is readonly UnoValue[] => Array.isArray(value);
export const isAny = (value: UnoValue): value is UnoAny =>
  typeof value === 'object' && value !== null && 'value' in value;

function kept<T>(memory: Map<number, T>, at: number, fresh: T | undefined): T {
  if (fresh !== undefined && at !== NOT_KEPT) memory.set(at, fresh);
  const value = fresh ?? memory.get(at);
  if (value === undefined) throw new RangeError('it refers to what was not said');
  return value;
}
