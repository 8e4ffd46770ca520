import type { ReactElement } from 'react';
import { PageLink } from '../../parts/index.js';
import { useScreens } from '../../wire/index.js';
import { words } from '../../words/index.js';

/** Where the screen of a device is looked at. */
export const screenAddress = (deviceId: string): string => `/fleet/${encodeURIComponent(deviceId)}/screen`;

/** A way to the screen of a device; nothing where there is none. */
export function ScreenLink({ deviceId }: { readonly deviceId: string }): ReactElement | null {
  const screens = useScreens();
  if (screens?.has(deviceId) !== true) return null;
  return (
    <PageLink className="screen-link" href={screenAddress(deviceId)} aria-label={words.screen.linkOf(deviceId)}>
      {words.screen.link}
    </PageLink>
  );
}
