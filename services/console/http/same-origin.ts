/** Where a change says that it comes from. */
export interface Change {
  readonly host: string | undefined;
  readonly origin: string | undefined;
  /** `Sec-Fetch-Site`: what the browser itself says, which no page can change. */
  readonly site: string | undefined;
}

const READS = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Whether this method changes nothing. */
export function isRead(method: string | undefined): boolean {
  return READS.has(method ?? '');
}

/**
 * Whether a page of ours asks for it. A browser sends cookies with what any page of the same site asks, and a port is no other
 * site: so the whole origin counts. A browser names it in every change; who names none is no browser, and needs no cookie.
 * @param ownOrigin where people reach this console; undefined: whatever name they used, which the gate has checked
 */
export function isSameOrigin({ host, origin, site }: Change, ownOrigin: string | undefined): boolean {
  if (site !== undefined && site !== 'same-origin') return false;
  if (origin === undefined) return site === 'same-origin';
  if (ownOrigin !== undefined) return origin === ownOrigin;
  return host !== undefined && (origin === `http://${host}` || origin === `https://${host}`);
}
