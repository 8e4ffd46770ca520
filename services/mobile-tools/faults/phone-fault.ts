/** Why a tool has not done what it was asked for. With all but `OUTCOME_UNKNOWN` nothing was done, or the message says what. */
export type PhoneFaultCode =
  /** What was seen is not what is there now. */
  | 'WINDOW_CHANGED'
  /** The control of that id has another name or type, or another application is in front than was seen. */
  | 'MISMATCH'
  | 'NOT_FOUND'
  /** Nothing was listed yet. */
  | 'NO_WINDOW'
  | 'NOT_INTERACTABLE'
  | 'NOT_RESPONDING'
  | 'PASSWORD'
  | 'APPLICATION'
  | 'KEYS'
  /** A text that this device cannot be given as it is. */
  | 'TEXT'
  | 'OUTSIDE'
  | 'NO_DEVICE'
  | 'OUTCOME_UNKNOWN';

export class PhoneFault extends Error {
  constructor(
    readonly code: PhoneFaultCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
