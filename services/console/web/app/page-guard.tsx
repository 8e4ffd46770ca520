import { Component, useEffect, type ReactNode } from 'react';
import { Empty, PageLink, Problem } from '../parts/index.js';
import { live } from '../wire/index.js';
import { words } from '../words/index.js';

interface GuardState {
  readonly error: string | undefined;
}

/** A page that cannot be drawn says so, and leaves the rest of the application as it is. */
export class PageGuard extends Component<{ readonly children: ReactNode }, GuardState> {
  override state: GuardState = { error: undefined };

  static getDerivedStateFromError(error: unknown): GuardState {
    return { error: error instanceof Error ? error.message : String(error) };
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (error === undefined) return this.props.children;
    return (
      <div className="page">
        <Empty title={words.broken}>
          <Problem text={error} />
          <ComesBack />
          <PageLink href="/">{words.nav.runs}</PageLink>
        </Empty>
      </div>
    );
  }
}

/** What was asked for while the console was away is asked for again when it is back: all that is looked at stands in the address. */
function ComesBack(): null {
  useEffect(
    () => live.connection.subscribe(() => (live.connection.get() === 'live' ? location.reload() : undefined)),
    [],
  );
  return null;
}
