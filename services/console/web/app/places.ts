import type { IconName } from '../parts/index.js';
import { words } from '../words/index.js';

interface Place {
  readonly href: string;
  readonly icon: IconName;
  readonly name: string;
  readonly at: RegExp;
  /** On a phone one word away. */
  readonly isRare?: true;
}

/** Where one can go from everywhere. */
export const PLACES: readonly Place[] = [
  { href: '/', icon: 'runs', name: words.nav.runs, at: /^\/(runs.*)?$/u },
  { href: '/new', icon: 'request', name: words.nav.request, at: /^\/new$/u },
  { href: '/runbooks', icon: 'runbooks', name: words.nav.runbooks, at: /^\/(?:runbooks|examples)/u, isRare: true },
  { href: '/attention', icon: 'attention', name: words.nav.attention, at: /^\/attention$/u },
  { href: '/fleet', icon: 'fleet', name: words.nav.fleet, at: /^\/fleet(\/|$)/u },
  { href: '/search', icon: 'outputs', name: words.nav.search, at: /^\/search$/u, isRare: true },
  { href: '/people', icon: 'people', name: words.nav.people, at: /^\/people$/u, isRare: true },
  { href: '/settings', icon: 'settings', name: words.nav.settings, at: /^\/settings$/u, isRare: true },
];
