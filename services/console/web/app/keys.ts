import { useEffect, useRef } from 'react';
import { goTo } from '../parts/index.js';

/** `g` and a letter: where to. */
const GO: Readonly<Record<string, string>> = {
  r: '/',
  n: '/new',
  b: '/runbooks',
  a: '/attention',
  f: '/fleet',
  o: '/search',
  p: '/people',
  s: '/settings',
};
const NEXT_KEY_MS = 1_000;

/** Keys that work everywhere but where something is written. */
export function useKeys({ openPalette }: { readonly openPalette: () => void }): void {
  const open = useRef(openPalette);
  open.current = openPalette;
  useEffect(() => {
    let wentAt = -Infinity;
    const hear = (event: KeyboardEvent): void => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
        event.preventDefault();
        open.current();
        return;
      }
      if (event.ctrlKey || event.metaKey || event.altKey || isWriting(event.target)) return;
      const to = event.timeStamp - wentAt < NEXT_KEY_MS ? GO[event.key] : undefined;
      wentAt = event.key === 'g' ? event.timeStamp : -Infinity;
      if (to !== undefined) goTo(to);
      else if (event.key === '?') open.current();
    };
    addEventListener('keydown', hear);
    return () => removeEventListener('keydown', hear);
  }, []);
}

function isWriting(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest('input, textarea, select, [contenteditable], .xterm') !== null;
}
