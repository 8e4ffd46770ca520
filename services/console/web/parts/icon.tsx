import type { ReactElement } from 'react';
import type { TaskStatus, RunStatus } from '#proto';

/** Drawn here: no font of anybody decides whether a sign is there. 24 units wide, lines only. */
const PATHS = {
  runs: 'M4 6h16M4 12h16M4 18h10',
  attention: 'M12 3 2 20h20L12 3Zm0 6v5m0 3v.01',
  fleet: 'M4 4h16v6H4zM4 14h16v6H4zM7.5 7v.01M7.5 17v.01',
  settings: 'M4 7h10m4 0h2M4 17h2m4 0h10M14 4.5v5M8 14.5v5',
  people:
    'M9 11a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7Zm-6.5 9c.6-3.6 3-5.5 6.5-5.5s5.9 1.9 6.5 5.5M16 4.5a3.5 3.5 0 0 1 0 6.5m2 3.8c2 .8 3.100 2.500 3.500 5.200',
  request: 'M12 5v14M5 12h14',
  runbooks: 'M5 4h11a3 3 0 0 1 3 3v13H8a3 3 0 0 1-3-3V4Zm0 13a3 3 0 0 1 3-3h11M9 8h6',
  sun: 'M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8Zm0-6v2m0 16v2M2 12h2m16 0h2M5 5l1.400 1.400m11.200 11.200L19 19M5 19l1.400-1.400M17.600 6.400 19 5',
  moon: 'M20 14.500A8.500 8.500 0 1 1 9.500 4a7 7 0 0 0 10.500 10.500Z',
  search: 'M10.500 4a6.500 6.500 0 1 0 0 13 6.500 6.500 0 0 0 0-13Zm5 11.500L21 21',
  outputs: 'M4 5h16v14H4zM7.5 9l3 3-3 3m5.500 0h4',
  close: 'M5 5l14 14M19 5 5 19',
  play: 'M7 4v16l13-8L7 4Z',
  pause: 'M8 5v14M16 5v14',
  back: 'M15 5l-7 7 7 7',
  forward: 'M9 5l7 7-7 7',
  link: 'M10 14a4.500 4.500 0 0 0 6.400 0l3-3A4.500 4.500 0 0 0 13 4.600l-1 1m2 4.400a4.500 4.500 0 0 0-6.400 0l-3 3a4.500 4.500 0 0 0 6.400 6.400l1-1',
  device: 'M3 5h18v11H3zM9 20h6m-3-4v4',
  person: 'M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8Zm-8 9c.6-4.200 3.500-6.500 8-6.500s7.400 2.300 8 6.500',
  planner: 'M12 3l2.200 6.300L20.500 12l-6.300 2.200L12 21l-2.200-6.800L3.500 12l6.300-2.700L12 3Z',
  copy: 'M9 9h11v11H9zM15 9V4H4v11h5',
  menu: 'M5 12v.01M12 12v.01M19 12v.01',
  whole: 'M4 9V4h5M15 4h5v5M20 15v5h-5M9 20H4v-5',
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { readonly name: IconName }): ReactElement {
  return (
    <svg className="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} />
    </svg>
  );
}

/** A shape for each status: colour is never the only sign. */
const SIGNS: Readonly<Record<TaskStatus | RunStatus | 'PARTIAL', string>> = {
  PENDING: 'M12 5a7 7 0 1 0 0 14 7 7 0 0 0 0-14Z',
  PLANNING:
    'M12 4v4m0 8v4M4 12h4m8 0h4M6.500 6.500l2.800 2.800m5.400 5.400 2.800 2.800M6.500 17.500l2.800-2.800m5.400-5.400 2.800-2.800',
  RUNNING: 'M12 4a8 8 0 1 1-8 8',
  WAITING: 'M7 4h10M7 20h10M8 4c0 5 8 5 8 8s-8 3-8 8m8-16c0 5-8 5-8 8s8 3 8 8',
  PAUSED: 'M9 6v12M15 6v12',
  COMPLETED: 'M5 12.500l4.500 4.500L19 7.500',
  FAILED: 'M6.500 6.500l11 11m0-11-11 11',
  PARTIAL: 'M4 12.500l3.500 3.500L14 8.500M15.500 15.500l5 5m0-5-5 5',
  SKIPPED: 'M5 7c6 0 6 10 12 10m-4-4 4 4-4 4',
  CANCELLED: 'M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16ZM6.500 17.500l11-11',
};

export function StatusSign({ status }: { readonly status: keyof typeof SIGNS }): ReactElement {
  return (
    <svg className={`sign status-${status.toLowerCase()}`} viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={SIGNS[status]} />
    </svg>
  );
}
