import type { ConsumeOptions } from '../durables/index.js';

/** Stands in the name of a durable for the number of a partition: one for each that the replica owns. */
export const PARTITION = '<partition>';

/** What stands in the decorator of a handler: messages of a durable, requests on a subject of `proto`, or a query of a service. */
export type BusPattern =
  | { readonly stream: string; readonly durable: string }
  | { readonly subject: SubjectName }
  | { readonly service: string; readonly query: string };

/** Subjects on which a question gets one answer: from any replica, or from the owner of the partition. */
export type SubjectName = 'submit' | 'verbsOfPartition';

/** How messages of a durable are taken. */
export interface TakeOptions extends Pick<ConsumeOptions, 'ackIntervalMs'> {
  readonly concurrency?: number;
  readonly maxPull?: number;
  /** The handler gets what arrived together, as BatchMessage[], settles each and returns nothing. */
  readonly isBatch?: boolean;
}

/** A request as it came. */
export interface BusRequest {
  readonly subject: string;
  readonly data: Uint8Array;
}

/** What a handler threw, kept whole: the framework would make "Internal server error" of it. */
export class Thrown {
  readonly error: unknown;
  constructor(error: unknown) {
    this.error = error;
  }
}

export function isPattern(pattern: unknown): pattern is BusPattern {
  if (typeof pattern !== 'object' || pattern === null) return false;
  const { stream, durable, subject, service, query } = pattern as Record<string, unknown>;
  const isText = (...values: unknown[]): boolean => values.every((value) => typeof value === 'string');
  return isText(stream, durable) || isText(service, query) || subject === 'submit' || subject === 'verbsOfPartition';
}

/** Whether its messages come to the owner of a partition only. */
export function isPartitioned(pattern: BusPattern): boolean {
  return 'durable' in pattern
    ? pattern.durable.includes(PARTITION)
    : 'subject' in pattern && pattern.subject === 'verbsOfPartition';
}
