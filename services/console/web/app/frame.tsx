import { useEffect, useRef, useState, type ReactElement, type ReactNode } from 'react';
import { Icon, PageLink, usePlace } from '../parts/index.js';
import { live, useMe, useRows, useStore } from '../wire/index.js';
import { words } from '../words/index.js';
import { useKeys } from './keys.js';
import { MoreSheet } from './more-sheet.js';
import { Palette } from './palette.js';
import { PLACES } from './places.js';
import { switchTheme, theme } from './theme.js';

/** What stands around every page: where one can go, who one is, and whether what is shown is live. */
export function Frame({ children }: { readonly children: ReactNode }): ReactElement {
  const { path } = usePlace();
  const [palette, setPalette] = useState(false);
  const [more, setMore] = useState(false);
  useKeys({ openPalette: () => setPalette(true) });
  const attention = useRows('attention');
  const { open } = attention.counts;
  useEffect(() => {
    document.title = open > 0 ? `(${open}) ${words.product}` : words.product;
  }, [open]);
  useNotice(open, attention.ready);
  return (
    <div className="shell">
      <a className="skip" href="#main">
        {words.skip}
      </a>
      <header className="bar">
        <PageLink href="/" className="brand">
          <Orrery />
          <span>{words.product}</span>
        </PageLink>
        <nav aria-label={words.nav.label} className="nav">
          {PLACES.map(({ href, icon, name, at, isRare }) => (
            <PageLink
              key={href}
              href={href}
              className={isRare === true ? 'nav-link rare' : 'nav-link'}
              aria-current={at.test(path) ? 'page' : undefined}
            >
              <Icon name={icon} />
              <span className="nav-name">{name}</span>
              {href === '/attention' && open > 0 ? (
                <span className="badge">
                  {open}
                  <span className="unseen"> {words.nav.open}</span>
                </span>
              ) : null}
            </PageLink>
          ))}
        </nav>
        <div className="bar-end">
          <button type="button" className="button quiet finder" onClick={() => setPalette(true)}>
            <Icon name="search" />
            <span className="wide-only">{words.palette.open}</span>
            <kbd className="wide-only">Ctrl K</kbd>
          </button>
          <ThemeSwitch />
          <Who />
          <button
            type="button"
            className="button quiet phone-only"
            aria-label={words.nav.more}
            onClick={() => setMore(true)}
          >
            <Icon name="menu" />
          </button>
        </div>
      </header>
      <Banner />
      <main id="main" tabIndex={0}>
        {children}
      </main>
      {palette ? <Palette onClose={() => setPalette(false)} /> : null}
      {more ? <MoreSheet path={path} onClose={() => setMore(false)} /> : null}
    </div>
  );
}

/** Who does not look at this page is told of what is new, if the browser was let. */
function useNotice(open: number, ready: boolean): void {
  const known = useRef<number>(undefined);
  useEffect(() => {
    if (!ready) return;
    const before = known.current;
    known.current = open;
    if (before === undefined || open <= before || !document.hidden) return;
    if ('Notification' in globalThis && Notification.permission === 'granted') {
      const notice = new Notification(words.product, { body: words.attention.somebody(open), tag: 'attention' });
      notice.addEventListener('click', () => window.focus());
    }
  }, [open, ready]);
}

/** Says when what is shown is not what is. */
function Banner(): ReactElement | null {
  const connection = useStore(live.connection);
  if (connection !== 'away') return null;
  return (
    <p className="banner" role="alert">
      {words.away}
    </p>
  );
}

function ThemeSwitch(): ReactElement {
  const now = useStore(theme);
  return (
    <button type="button" className="button quiet" onClick={switchTheme} aria-label={words.theme[now]}>
      <Icon name={now === 'dark' ? 'sun' : 'moon'} />
    </button>
  );
}

function Who(): ReactElement | null {
  const me = useMe();
  if (me === undefined) return null;
  return (
    <a className="button quiet" href="/login" title={words.roles(me.roles)}>
      <Icon name="person" />
      <span className="wide-only">{me.actor.id}</span>
    </a>
  );
}

/** The sign of the house: rings, and what goes round on them. */
function Orrery(): ReactElement {
  return (
    <svg className="orrery" viewBox="0 0 32 32" aria-hidden="true" focusable="false">
      <circle cx="16" cy="16" r="3.200" className="sun" />
      <circle cx="16" cy="16" r="8" className="ring" />
      <circle cx="16" cy="16" r="13.500" className="ring" />
      <circle cx="22" cy="10.700" r="1.800" className="planet" />
      <circle cx="4.600" cy="23.200" r="2.300" className="planet far" />
    </svg>
  );
}
