import type { Violation } from './chain.js';

/** Nobody can say whether the commit is stored, or the server refused it for good. Try the whole decision again, from a fresh load. */
export class AppendError extends Error {
  override readonly name = 'AppendError';
  readonly subject: string;
  constructor(subject: string, reason: string, options?: ErrorOptions) {
    super(`The commit for ${subject} could not be appended: ${reason}.`, options);
    this.subject = subject;
  }
}

/** The log could not be read: the server is away. */
export class LoadError extends Error {
  override readonly name = 'LoadError';
  readonly subject: string;
  constructor(subject: string, options?: ErrorOptions) {
    super(`${subject} could not be read from the log.`, options);
    this.subject = subject;
  }
}

/** What is stored is not what was written: a broken chain or a commit that does not parse. Never skipped, never repaired. */
export class CorruptLogError extends Error {
  override readonly name = 'CorruptLogError';
  readonly subject: string;
  readonly violations: readonly Violation[];
  constructor(subject: string, violations: readonly Violation[]) {
    const first = violations[0];
    super(
      `The log of ${subject} is damaged${first === undefined ? '' : ` at commit ${first.number}: ${first.message}`}.`,
    );
    this.subject = subject;
    this.violations = violations;
  }
}
