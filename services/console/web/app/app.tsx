import type { ReactElement } from 'react';
import { Empty, PageLink, late, usePlace } from '../parts/index.js';
import { RunsPage } from '../pages/runs/index.js';
import { words } from '../words/index.js';
import { Frame } from './frame.js';
import { PageGuard } from './page-guard.js';

const RunPage = late(async () => (await import('../pages/run/index.js')).RunPage);
const RequestPage = late(async () => (await import('../pages/request/index.js')).RequestPage);
const GalleryPage = late(async () => (await import('../pages/runbooks/index.js')).GalleryPage);
const RunbookPage = late(async () => (await import('../pages/runbooks/index.js')).RunbookPage);
const AttentionPage = late(async () => (await import('../pages/attention/index.js')).AttentionPage);
const ExamplesPage = late(async () => (await import('../pages/examples/index.js')).ExamplesPage);
const ComparePage = late(async () => (await import('../pages/compare/index.js')).ComparePage);
const FleetPage = late(async () => (await import('../pages/fleet/index.js')).FleetPage);
const ScreenPage = late(async () => (await import('../pages/fleet/index.js')).ScreenPage);
const SearchPage = late(async () => (await import('../pages/search/index.js')).SearchPage);
const PeoplePage = late(async () => (await import('../pages/people/index.js')).PeoplePage);
const SettingsPage = late(async () => (await import('../pages/settings/index.js')).SettingsPage);

export function App(): ReactElement {
  const { path } = usePlace();
  return (
    <Frame>
      <PageGuard key={path}>
        <Page />
      </PageGuard>
    </Frame>
  );
}

function Page(): ReactElement {
  const { path } = usePlace();
  const run = /^\/runs\/([0-9a-z]{4,26})$/u.exec(path)?.[1];
  if (run !== undefined) return <RunPage key={run} runId={run} />;
  const runbook = /^\/runbooks\/([a-z][a-z0-9-]{0,63})$/u.exec(path)?.[1];
  if (runbook !== undefined) return <RunbookPage key={runbook} name={runbook} />;
  const screen = /^\/fleet\/([\w-]{1,64})\/screen$/u.exec(path)?.[1];
  if (screen !== undefined) return <ScreenPage key={screen} deviceId={screen} />;
  switch (path) {
    case '/':
    case '/runs':
      return <RunsPage />;
    case '/new':
      return <RequestPage />;
    case '/runbooks':
      return <GalleryPage />;
    case '/examples':
      return <ExamplesPage />;
    case '/attention':
      return <AttentionPage />;
    case '/compare':
      return <ComparePage />;
    case '/fleet':
      return <FleetPage />;
    case '/search':
      return <SearchPage />;
    case '/people':
      return <PeoplePage />;
    case '/settings':
      return <SettingsPage />;
    default:
      return (
        <Empty title={words.nothingHere}>
          <PageLink href="/">{words.nav.runs}</PageLink>
        </Empty>
      );
  }
}
