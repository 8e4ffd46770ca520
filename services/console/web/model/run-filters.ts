import { RunStatus } from '#proto';
import type { RunSummary } from '#proto';

/** What a list of runs is narrowed to: kept in the address, so that a link shows the same. */
export interface RunFilters {
  readonly words: string;
  readonly status: readonly RunStatus[];
  readonly by: string;
  readonly device: string;
  readonly label: string;
}

export function filtersIn(search: URLSearchParams): RunFilters {
  const status = (search.get('status') ?? '').split(',').flatMap((word) => RunStatus.safeParse(word).data ?? []);
  const text = (name: string): string => search.get(name) ?? '';
  return { words: text('words'), status, by: text('by'), device: text('device'), label: text('label') };
}

export function searchOf({ status, ...texts }: RunFilters): string {
  const said = new URLSearchParams();
  for (const [name, text] of Object.entries(texts)) if (text !== '') said.set(name, text);
  if (status.length > 0) said.set('status', status.join(','));
  const search = said.toString();
  return search === '' ? '' : `?${search}`;
}

/** What the server is asked for; the words are looked for in what it answers. */
export function askedOf({ status, by, device, label }: RunFilters, limit: number): string {
  const said = new URLSearchParams({ limit: String(limit) });
  if (status.length > 0) said.set('status', status.join(','));
  for (const [name, text] of Object.entries({ by, device, label })) if (text !== '') said.set(name, text);
  return `/v1/runs?${said.toString()}`;
}

/** Whether the live list of all runs is enough: nothing is asked but words and status. */
export function isLiveEnough({ by, device, label }: RunFilters): boolean {
  return by === '' && device === '' && label === '';
}

export function matches({ words, status }: RunFilters, run: RunSummary): boolean {
  if (status.length > 0 && !status.includes(run.status)) return false;
  const labels = Object.entries(run.labels ?? {}).map(([name, value]) => `${name}=${value}`);
  const text = [run.name, run.runId, run.requestId, run.requestedBy ?? '', ...labels].join(' ').toLowerCase();
  return words
    .toLowerCase()
    .split(/\s+/u)
    .every((word) => text.includes(word));
}
