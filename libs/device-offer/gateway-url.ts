import { z } from 'zod';
import { shellWord } from '#libs/visible';

/** Stands where a person has to put the address of a gateway. */
export const URL_PLACEHOLDER = 'ws://<gateway>:5000/ws';

/** The address of a gateway as a person gives it. A credential in it would end up in files and logs. */
export const GatewayUrl = z.string().transform((text, context) => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const wrong = wrongWith(url);
  if (url !== undefined && wrong === undefined) return url.href;
  context.addIssue({ code: 'custom', message: wrong ?? '' });
  return z.NEVER;
});

function wrongWith(url: URL | undefined): string | undefined {
  if (url === undefined || (url.protocol !== 'ws:' && url.protocol !== 'wss:')) {
    return 'must be a ws:// or wss:// address such as wss://orrery.example.org/ws';
  }
  const isPlain = url.username === '' && url.password === '' && url.search === '' && url.hash === '';
  return isPlain ? undefined : 'must be an address only: no user, no password, nothing behind "?"';
}

/** Whether others than this machine can read what is said there. */
export function isOpen(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  return protocol === 'ws:' && !/^(?:localhost|127(?:\.\d+){3}|\[::1\])$/u.test(hostname);
}

/** The address as one word of a command line; what a person has to replace is left as it is. */
export const urlWord = (url: string): string => (url === URL_PLACEHOLDER ? url : shellWord(url));
