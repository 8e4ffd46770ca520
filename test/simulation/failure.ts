/** What was promised and did not hold. */
export interface Failure {
  readonly check: string;
  readonly message: string;
  /** Milliseconds since the start. */
  readonly at: number;
}

/** Takes the first thing that did not hold; what follows from it says nothing more. */
export type Fail = (check: string, message: string) => void;
