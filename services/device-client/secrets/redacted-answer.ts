import type { ToolAnswer, ToolOutput } from '#libs/mcp';
import { RedactedStream, type Redactor } from './redactor.js';

/** The answer of a tool without secrets, wherever in it they are. What is beside it (`meta`) goes no further than here. */
export function withoutSecrets(answer: ToolAnswer, redactor: Redactor | undefined): ToolAnswer {
  if (redactor === undefined) return answer;
  switch (answer.kind) {
    case 'answered':
    case 'cancelled':
      return { ...answer, value: redactor.json(answer.value) };
    case 'unavailable':
    case 'lost':
      return { ...answer, reason: redactor.text(answer.reason) };
    case 'timed_out':
      return answer;
  }
}

interface Redacting {
  readonly stream: RedactedStream;
  /** Where the next piece begins when nothing is left out. */
  expected: number;
  /** Bytes that were told, and those before them that were not. */
  told: number;
}

/** What a running call writes, without secrets that are cut by its pieces. Offsets count what is told. */
export class RedactedOutput {
  readonly #redactor: Redactor;
  readonly #tell: (piece: ToolOutput) => void;
  readonly #streams = new Map<ToolOutput['stream'], Redacting>();

  constructor(redactor: Redactor, tell: (piece: ToolOutput) => void) {
    this.#redactor = redactor;
    this.#tell = tell;
  }

  push({ stream: name, offset, text }: ToolOutput): void {
    const bytes = Buffer.from(text);
    const before = this.#streams.get(name);
    const goesOn = before !== undefined && offset <= before.expected;
    if (!goesOn && before !== undefined) this.#say(name, before, before.stream.end());
    const gap = before === undefined ? offset : Math.max(0, offset - before.expected);
    const now: Redacting = {
      stream: goesOn ? before.stream : new RedactedStream(this.#redactor),
      expected: offset + bytes.length,
      told: (before?.told ?? 0) + gap,
    };
    this.#streams.set(name, now);
    this.#say(name, now, now.stream.push(bytes));
  }

  /** The call has its answer: what was held back is told. */
  end(): void {
    for (const [name, redacting] of this.#streams) this.#say(name, redacting, redacting.stream.end());
    this.#streams.clear();
  }

  #say(stream: ToolOutput['stream'], redacting: Redacting, bytes: Buffer): void {
    if (bytes.length === 0) return;
    const offset = redacting.told;
    redacting.told += bytes.length;
    this.#tell({ stream, offset, text: bytes.toString('utf8') });
  }
}
