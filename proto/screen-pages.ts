/** What a browser has of its own: its pages, which are opened, read and clicked on without mouse and keys. */
export const PAGE_TOOLS = ['open_page', 'read_page', 'click_on_page', 'download_from_page'] as const;

/** Those that act on a control of the page that was read last. */
const ACTS_ON_PAGE: ReadonlySet<string> = new Set<(typeof PAGE_TOOLS)[number]>(['click_on_page', 'download_from_page']);

/** Programs that have them, by the last part of their path. */
export const BROWSERS: readonly string[] = ['chromium', 'chrome'];

/** Whether a tool of this name acts on what `read_page` has listed. */
export const actsOnPage = (name: string): boolean => ACTS_ON_PAGE.has(name);

const ADDRESS_CHARS_MAX = 2_048;

export type PageAddress = { readonly href: string } | { readonly why: string };

/** The address of a page as it is opened, or why it is not: others than http and https run something, or are files of the machine. */
export function pageAddressOf(text: unknown): PageAddress {
  if (typeof text !== 'string' || !URL.canParse(text))
    return { why: 'url must be a whole address, such as https://example.org/' };
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    return { why: `only pages of http and https are opened, and not ${url.protocol.slice(0, 20)}` };
  if (url.username !== '' || url.password !== '') return { why: 'an address must not have a user or a password in it' };
  if (url.href.length > ADDRESS_CHARS_MAX) return { why: `an address has at most ${ADDRESS_CHARS_MAX} characters` };
  return { href: url.href };
}
