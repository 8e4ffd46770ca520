import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { Metrics } from '#libs/platform';
import { familiesOf } from '#libs/testing';
import { CAUSED_ELSEWHERE } from './caused-elsewhere.js';
import { documentedMetrics, ROOT, seriesOf } from './metrics-page.js';
import { askedIn, groupedBy } from './queries.js';

const DIRECTORY = join(ROOT, 'deploy/monitoring');
const read = (file: string): string => readFileSync(join(DIRECTORY, file), 'utf8');

interface Rule {
  readonly record?: string;
  readonly alert?: string;
  readonly expr: string;
  readonly labels?: { readonly severity?: string };
  readonly annotations?: { readonly summary?: string; readonly runbook_url?: string };
}
interface Panel {
  readonly id: number;
  readonly title: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets: readonly { readonly expr: string; readonly legendFormat: string }[];
}

const { groups } = parse(read('rules.yml')) as { groups: { name: string; rules: Rule[] }[] };
const rules = groups.flatMap(({ rules: all }) => all);
const alerts = rules.filter(({ alert }) => alert !== undefined);
const dashboards = readdirSync(join(DIRECTORY, 'dashboards')).map((file) => {
  const board = JSON.parse(read(`dashboards/${file}`)) as { uid: string; title: string; panels: Panel[] };
  return { file, ...board };
});
const queries = [
  ...rules.map(({ record, alert, expr }) => [record ?? alert ?? '', expr] as const),
  ...dashboards.flatMap(({ file, panels }) =>
    panels.flatMap(({ title, targets }) => targets.map(({ expr }) => [`${file}: ${title}`, expr] as const)),
  ),
];

const metrics = documentedMetrics();
const labelsOf = new Map(metrics.flatMap((metric) => seriesOf(metric).map((name) => [name, metric.labels])));
const recorded = new Set(rules.flatMap(({ record }) => record ?? []));
const defaults = new Set(familiesOf(await new Metrics('test').registry.metrics()).map(({ name }) => name));
/** By Prometheus, and by every service. */
const EVERYWHERE = ['job', 'instance', 'service', 'le'];

describe('a query', () => {
  it.each([
    ['sum by (a) (rate(one_total{x="y", z!~"w"}[5m])) / sum(two)', 'one_total x z, two '],
    [
      'histogram_quantile(0.9, sum by (le) (three_bucket)) > 1 and on (a) r:ecorded:rate5m{b="{c}"}',
      'three_bucket , r:ecorded:rate5m b',
    ],
    ['absent(up{job="orrery"}) unless four offset 5m', 'up job, four '],
  ])('%s is taken apart', (expression, expected) => {
    const found = askedIn(expression).filter(({ name }) => !/^\d/u.test(name));
    expect(found.map(({ name, labels }) => `${name} ${labels.join(' ')}`).join(', ')).toBe(expected);
  });

  it.each(queries)('of %s names metrics and labels that there are', (_what, expression) => {
    const asked = askedIn(expression);
    expect(asked.length).toBeGreaterThan(0);
    for (const { name, labels } of asked) {
      const isKnown = labelsOf.has(name) || recorded.has(name) || defaults.has(name) || name === 'up';
      expect({ name, isKnown }).toEqual({ name, isKnown: true });
      const own = labelsOf.get(name);
      if (own !== undefined) expect(labels.filter((label) => ![...own, ...EVERYWHERE].includes(label))).toEqual([]);
    }
    const grouping = new Set([
      ...EVERYWHERE,
      ...asked.flatMap(({ name }) => labelsOf.get(name) ?? ['stream', 'durable', 'status', 'agent']),
    ]);
    expect(groupedBy(expression).filter((label) => !grouping.has(label))).toEqual([]);
  });

  it.each(queries)('of %s does not add up what every replica tells', (_what, expression) => {
    const shared = metrics.filter(
      ({ type, services }) => type === 'gauge' && /^(?:logging|registry)$/u.test(services.join()),
    );
    for (const { name } of shared)
      expect(expression).not.toMatch(
        new RegExp(`\\b(?:sum|avg|count)\\b[^()]*(?:\\([^()]*\\)\\s*)?\\(\\s*${name}\\b`, 'u'),
      );
  });
});

describe('an alert', () => {
  const page = readFileSync(join(ROOT, 'docs/alerts.md'), 'utf8');
  const headings = [...page.matchAll(/^## (\w+)$/gmu)].map(([, heading = '']) => heading);
  const tried = JSON.stringify(parse(read('rules.test.yml')));

  it('has a heading in docs/alerts.md, in the same order, and every heading is of one', () =>
    expect(headings.toSorted()).toEqual(alerts.map(({ alert }) => alert ?? '').toSorted()));

  it.each(alerts)('$alert says how bad it is, what is wrong and what to do, and is tried with values', (rule) => {
    expect(rule.labels?.severity).toMatch(/^(?:critical|warning)$/u);
    expect(rule.annotations?.summary).toMatch(/\w/u);
    expect(rule.annotations?.runbook_url).toBe(`docs/alerts.md#${rule.alert?.toLowerCase()}`);
    expect(tried).toContain(`"alertname":"${rule.alert}","exp_alerts":[{`);
  });
});

describe('a dashboard', () => {
  it.each(dashboards)('$file has panels that say what they show and do not overlap', ({ panels, uid }) => {
    expect(uid).toMatch(/^orrery-\w+$/u);
    expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
    const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, at) => `${x + (at % w)} ${y + Math.floor(at / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
    expect(panels.filter(({ gridPos: { x, w } }) => x + w > 24)).toEqual([]);
  });

  it('shows every metric of the table somewhere, or a rule does', () => {
    const shown = new Set(queries.flatMap(([, expression]) => askedIn(expression).map(({ name }) => name)));
    const hidden = metrics.filter((metric) => !seriesOf(metric).some((name) => shown.has(name)));
    expect(hidden.map(({ name }) => name)).toEqual(NOT_SHOWN);
  });
});

it.each(Object.entries(CAUSED_ELSEWHERE))('%s is moved by %s', (name, spec) => {
  expect(metrics.map((metric) => metric.name)).toContain(name);
  expect(readFileSync(join(ROOT, spec), 'utf8')).toContain(name.replace('orrery_', ''));
});

/** To be asked for when one wants to know more. */
const NOT_SHOWN = [
  'orrery_logging_commits_total',
  'orrery_logging_feed_events_total',
  'orrery_aip_commands_total',
  'orrery_aip_file_bytes_total',
  'orrery_aip_files_total',
  'orrery_aip_frames_refused_total',
  'orrery_aip_frames_total',
  'orrery_aip_identity_requests_total',
  'orrery_aip_output_pieces_total',
  'orrery_aip_results_delivered_total',
  'orrery_agent_phase_seconds',
  'orrery_embedding_calls_total',
  'orrery_embedding_tokens_total',
  'orrery_planner_round_seconds',
];

describe('Prometheus collects', () => {
  const services = metrics.find(({ name }) => name === 'orrery_look_failed')?.services ?? [];

  it('from every service of the compose file, where that listens', () => {
    const { services: all } = parse(readFileSync(join(ROOT, 'docker-compose.yml'), 'utf8'), {
      merge: true,
      maxAliasCount: -1,
    }) as {
      services: Record<string, { environment?: Record<string, unknown> }>;
    };
    const { scrape_configs: jobs } = parse(read('prometheus.compose.yml')) as {
      scrape_configs: { job_name: string; static_configs: { targets: string[] }[] }[];
    };
    const listening = services.map((service) => {
      const { ORRERY_HEALTH_PORT: port, ORRERY_BIND: bind } = all[service]?.environment ?? {};
      return bind === '0.0.0.0' ? `${service}:${String(port)}` : `${service} listens to itself`;
    });
    expect(jobs.map(({ job_name: name }) => name)).toEqual(['orrery']);
    expect(jobs[0]?.static_configs.flatMap(({ targets }) => targets)).toEqual(listening);
  });

  it('from the services of `up`, as their home names them', () => {
    const home = mkdtempSync(join(tmpdir(), 'orrery-targets-'));
    const health = { planner: 'http://127.0.0.1:4711', logging: 'http://127.0.0.1:4712' };
    writeFileSync(join(home, 'endpoints.json'), JSON.stringify({ health }));
    const { stdout } = spawnSync(process.execPath, [join(DIRECTORY, 'targets.mjs')], {
      env: { ORRERY_HOME: home },
      encoding: 'utf8',
    });
    rmSync(home, { recursive: true });
    expect(JSON.parse(stdout)).toEqual([
      { targets: ['127.0.0.1:4711'], labels: { orrery_service: 'planner' } },
      { targets: ['127.0.0.1:4712'], labels: { orrery_service: 'logging' } },
    ]);
  });
});
