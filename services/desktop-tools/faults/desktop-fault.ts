import { ToolFailure } from '#libs/mcp';

/** Nothing was done, unless the sentence says otherwise. */
export type FaultCode =
  /** The listing is an older one, another window is in front, or the window is gone. */
  | 'WINDOW_CHANGED'
  /** What is at this id is something else than what was said. */
  | 'MISMATCH'
  | 'NOT_FOUND'
  | 'NO_WINDOW'
  | 'NOT_INTERACTABLE'
  | 'NOT_RESPONDING'
  | 'TERMINAL'
  | 'PASSWORD'
  | 'APPLICATION'
  | 'KEYS'
  /** What would be pasted is a formula that a person is asked about when it is written. */
  | 'FORMULA'
  | 'OUTSIDE'
  /** Display or bus cannot be reached. */
  | 'DISPLAY'
  /** Somebody else has the screen. */
  | 'SCREEN_BUSY';

export class DesktopFault extends ToolFailure {
  readonly code: FaultCode;

  constructor(code: FaultCode, why: string) {
    super(`${code}: ${why}.`);
    this.code = code;
  }
}
