/** One of the two that are compared: a run, and how far it had come. All of it is in the address. */
export interface Side {
  readonly run: string | undefined;
  /** The event up to which it is looked at; undefined: all of it. */
  readonly at: number | undefined;
}

export interface Sides {
  readonly from: Side;
  readonly to: Side;
  /** Also what is the same. */
  readonly all: boolean;
}

export function sidesIn(search: URLSearchParams): Sides {
  const side = (name: string): Side => {
    const at = Number(search.get(`${name}At`) ?? 0);
    return { run: search.get(name) ?? undefined, at: Number.isInteger(at) && at > 0 ? at : undefined };
  };
  return { from: side('from'), to: side('to'), all: search.get('all') === '1' };
}

/** The address that shows these two. */
export function compareAddress({ from, to, all }: { from: Side; to: Side; all?: boolean }): string {
  const said = new URLSearchParams();
  for (const [name, { run, at }] of [['from', from] as const, ['to', to] as const]) {
    if (run !== undefined) said.set(name, run);
    if (at !== undefined) said.set(`${name}At`, String(at));
  }
  if (all === true) said.set('all', '1');
  return `/compare?${said.toString()}`;
}
