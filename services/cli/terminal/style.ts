const CODES = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, blue: 34, cyan: 36 } as const;
export type Colour = keyof typeof CODES;

/** Wraps text in a colour, or leaves it alone when nobody wants colours. */
export type Paint = (colour: Colour, text: string) => string;

export const plain: Paint = (_, text) => text;
export const painted: Paint = (colour, text) => `\u001B[${CODES[colour]}m${text}\u001B[0m`;

export function paintFor({ color }: { readonly color: boolean }): Paint {
  return color ? painted : plain;
}

const STATUS_COLOURS: Readonly<Record<string, Colour>> = {
  PENDING: 'dim',
  RUNNING: 'cyan',
  COMPLETED: 'green',
  FAILED: 'red',
  SKIPPED: 'yellow',
  CANCELLED: 'yellow',
  PAUSED: 'yellow',
  WAITING: 'blue',
  PLANNING: 'blue',
  connected: 'green',
  suspect: 'yellow',
  lost: 'red',
  REVOKED: 'red',
  offline: 'dim',
  open: 'yellow',
  approved: 'green',
  edited: 'green',
  answered: 'green',
  rejected: 'red',
  expired: 'red',
  revoked: 'red',
  withdrawn: 'dim',
  succeeded: 'green',
  partially_failed: 'red',
};

export function paintStatus(paint: Paint, status: string, text = status): string {
  const colour = STATUS_COLOURS[status];
  return colour === undefined ? text : paint(colour, text);
}
