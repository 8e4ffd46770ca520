import type { AnchorHTMLAttributes, MouseEvent, ReactElement } from 'react';
import { Observable } from '../model/index.js';
import { useStore } from '../wire/index.js';

export interface Whereabouts {
  readonly path: string;
  readonly search: URLSearchParams;
}

const here = (): Whereabouts => ({ path: location.pathname, search: new URLSearchParams(location.search) });
const place = new Observable<Whereabouts>(here());
addEventListener('popstate', () => place.set(here()));

/** Where the browser is. */
export function usePlace(): Whereabouts {
  return useStore(place);
}

/** `replace`: what was shown is no place to come back to. */
export function goTo(address: string, { replace = false }: { readonly replace?: boolean } = {}): void {
  if (replace) history.replaceState(null, '', address);
  else history.pushState(null, '', address);
  place.set(here());
}

/** A link within the application; with a modifier key, and in a new window, it is any other link. */
export function PageLink({
  href,
  onClick,
  ...rest
}: AnchorHTMLAttributes<HTMLAnchorElement> & { readonly href: string }): ReactElement {
  const follow = (event: MouseEvent<HTMLAnchorElement>): void => {
    onClick?.(event);
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    goTo(href);
  };
  return <a href={href} onClick={follow} {...rest} />;
}
