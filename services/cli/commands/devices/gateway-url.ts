import { badInput, shellWord } from '../../terminal/index.js';

/** Stands where a person has to put the address of a gateway. */
export const URL_PLACEHOLDER = 'ws://<gateway>:5000/ws';

/** The address of a gateway as a person gives it. A credential in it would end up in files and logs. */
export function checkGatewayUrl(text: string, from = '--url'): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== 'ws:' && url.protocol !== 'wss:')) {
    throw badInput(`${from} must be a ws:// or wss:// address such as wss://orrery.example.org/ws`);
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw badInput(`${from} must be an address only: no user, no password, nothing behind "?"`);
  }
  return url.href;
}

/** Whether others than this machine can read what is said there. */
export function isOpen(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  return protocol === 'ws:' && !/^(?:localhost|127(?:\.\d+){3}|\[::1\])$/u.test(hostname);
}

/** How clients that send no headers say who they are: the token is a part of the address. */
export function urlWithToken(url: string): string {
  return `${url}?token=<token>`;
}

/** The address as one word of a command line; what a person has to replace is left as it is. */
export const urlWord = (url: string): string => (url === URL_PLACEHOLDER ? url : shellWord(url));
