import type { ReactElement } from 'react';
import { Dialog, Foreign, Icon, PageLink } from '../parts/index.js';
import { useMe, useStore } from '../wire/index.js';
import { words } from '../words/index.js';
import { PLACES } from './places.js';
import { switchTheme, theme } from './theme.js';

interface MoreSheetProps {
  readonly path: string;
  readonly onClose: () => void;
}

/** What the bar of a phone has no room for. */
export function MoreSheet({ path, onClose }: MoreSheetProps): ReactElement {
  const me = useMe();
  const now = useStore(theme);
  return (
    <Dialog open title={words.nav.more} onClose={onClose}>
      <ul className="sheet">
        {PLACES.filter(({ isRare }) => isRare === true).map(({ href, icon, name, at }) => (
          <li key={href}>
            <PageLink
              href={href}
              className="sheet-item"
              aria-current={at.test(path) ? 'page' : undefined}
              onClick={onClose}
            >
              <Icon name={icon} />
              {name}
            </PageLink>
          </li>
        ))}
        <li>
          <button type="button" className="sheet-item" onClick={switchTheme}>
            <Icon name={now === 'dark' ? 'sun' : 'moon'} />
            {words.theme[now]}
          </button>
        </li>
        {me === undefined ? null : (
          <li>
            <a className="sheet-item" href="/login">
              <Icon name="person" />
              <span>
                <Foreign text={me.actor.id} />
                <span className="faint"> {words.roles(me.roles)}</span>
              </span>
            </a>
          </li>
        )}
      </ul>
    </Dialog>
  );
}
