/** What an event says, of a version that is not written any more. */
type Data = Readonly<Record<string, unknown>>;
/** From what an event of one version says to what the next version says of the same. Pure, and for ever. */
type Upcaster = (data: Data) => Data;

/**
 * By type of event, the steps from version 1 on: the first makes version 2 of version 1. An event whose meaning changes, or that says
 * something that has no default, gets one; one that is merely given an optional field does not. What is stored stays as it is: hashes
 * are made and checked over that, and what is read is brought up to date after it, wherever a schema reads it.
 */
export type Upcasters = Readonly<Partial<Record<string, readonly Upcaster[]>>>;

export const UPCASTERS: Upcasters = {};

/** The version in which an event of this type is written now. */
export const schemaVersionOf = (type: string): number => 1 + stepsOf(type, UPCASTERS).length;

/** For the end of a switch over all facts: what is not known is never skipped. Throws. */
export function unknownFact(event: never): never {
  throw new Error(`unknown fact: ${JSON.stringify(event)}`);
}

/** An event as it is stored, in the words of today. What is up to date, or is none that its upcasters understand, is left to the schema as it is. */
export function upcast(stored: unknown, upcasters: Upcasters): unknown {
  if (!isEvent(stored)) return stored;
  const steps = stepsOf(stored.type, upcasters).slice(stored.schemaVersion - 1);
  if (steps.length === 0) return stored;
  try {
    const data = steps.reduce((before, step) => step(before), stored.data);
    return { ...stored, schemaVersion: stored.schemaVersion + steps.length, data };
  } catch {
    return stored;
  }
}

const stepsOf = (type: string, upcasters: Upcasters): readonly Upcaster[] =>
  (Object.hasOwn(upcasters, type) ? upcasters[type] : undefined) ?? [];

interface StoredEvent {
  readonly type: string;
  readonly schemaVersion: number;
  readonly data: Data;
}

function isEvent(stored: unknown): stored is StoredEvent {
  if (typeof stored !== 'object' || stored === null) return false;
  const { type, schemaVersion, data } = stored as Partial<Record<keyof StoredEvent, unknown>>;
  const isNamed = typeof type === 'string' && typeof schemaVersion === 'number' && schemaVersion >= 1;
  return isNamed && typeof data === 'object' && data !== null;
}
