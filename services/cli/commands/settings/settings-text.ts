import type { Alike, ModelInUse, PolicyInUse, PolicyLayer, SettingsInUse } from '#proto';
import { cleanLine, paintFor, renderTable, type Column, type Terminal } from '../../terminal/index.js';

type Screen = Pick<Terminal, 'isTerminal' | 'color'> & Partial<Pick<Terminal, 'columns'>>;

/** What one service works by, for a person to read. */
export function settingsText(service: string, groups: readonly Alike[], screen: Screen): string {
  const paint = paintFor(screen);
  return groups
    .flatMap(({ names, settings }) => [
      paint('bold', `${service}: ${names.map(cleanLine).join(', ')}`),
      ...(settings.policy === null ? [] : policyTexts(settings.policy, screen)),
      ...section('prompts', tableOf(settings.prompts, PROMPTS, screen), 'none: no model is configured'),
      ...section('models', tableOf(settings.models, MODELS, screen), 'none is configured'),
      ...pictureText(settings),
      ...(settings.replays ? ['models are not asked: what they answered once is read again'] : []),
    ])
    .join('\n');
}

const section = (title: string, table: string, nothing: string): string[] =>
  table === '' ? [`${title}: ${nothing}`] : ['', title, table];

const tableOf = <R>(rows: readonly R[], columns: readonly Column<R>[], screen: Screen): string =>
  rows.length === 0 ? '' : renderTable(rows, columns, screen);

const pictureText = ({ models, visual }: SettingsInUse): string[] =>
  models.length === 0
    ? []
    : [visual ? 'agents of screens show pictures to those that see' : 'no pictures are shown to them'];

const PROMPTS = [
  { title: 'FILE', value: ({ file }: { file: string }) => file },
  { title: 'SHA-256', value: ({ sha256 }: { sha256: string }) => sha256 },
];

const MS = 1_000;
const UNSAID = '-';
const MODELS: readonly Column<ModelInUse>[] = [
  { title: 'FOR', value: ({ of }) => of },
  { title: 'MODEL', value: ({ model }) => model },
  { title: 'ENDPOINT', value: ({ host }) => host },
  { title: 'KEY', value: ({ hasKey }) => (hasKey ? 'yes' : 'no') },
  { title: 'SEES', value: ({ seesPictures }) => (seesPictures === null ? UNSAID : seesPictures ? 'pictures' : 'no') },
  { title: 'TEMPERATURE', value: ({ temperature }) => String(temperature ?? UNSAID), spare: true },
  { title: 'TOKENS', value: ({ maxTokens }) => String(maxTokens ?? UNSAID), spare: true },
  { title: 'TRY', value: ({ timeoutMs }) => (timeoutMs === null ? UNSAID : `${timeoutMs / MS} s`), spare: true },
  { title: 'AGAIN', value: ({ retries }) => String(retries ?? UNSAID), spare: true },
];

/** A later place counts before those above it; what nobody may ever do, and paths with secrets, add up. */
function policyTexts({ hash, layers }: PolicyInUse, screen: Screen): string[] {
  return ['', `policy ${hash}`, ...layers.flatMap((layer) => layerTexts(layer, screen))];
}

function layerTexts(layer: PolicyLayer, screen: Screen): string[] {
  const { from, devices, defaults, sensitivePaths, writablePaths, programDirectories, tools } = layer;
  const { ids = [], tags = [] } = devices ?? {};
  const forWhom = [...ids, ...tags.map((tag) => `tagged ${tag}`)];
  const rules = [...layer.floor.map((rule) => ({ ...rule, decision: 'never' })), ...layer.rules];
  const lists: readonly (readonly [string, readonly string[]])[] = [
    ['by class', Object.entries(defaults).map(([of, decision]) => `${of} ${decision}`)],
    ['secrets', sensitivePaths],
    ['writable', writablePaths ?? []],
    ['programs', programDirectories ?? []],
    ['tools', Object.entries(tools).map(([name, rule]) => `${name} ${rule}`)],
  ];
  const saidLists = lists
    .filter(([, of]) => of.length > 0)
    .map(([title, of]) => `  ${title.padEnd(TITLE_WIDTH)}${cleanLine(of.join(', '))}`);
  const forThese = forWhom.length === 0 ? '' : `, for ${forWhom.join(', ')}`;
  return [
    cleanLine(`from ${from}${forThese}`),
    ...saidLists,
    ...(rules.length === 0 ? [] : [renderTable(rules, RULES, screen)]),
  ];
}

const TITLE_WIDTH = 10;

interface Rule {
  readonly id: string;
  readonly match: string;
  readonly decision: string;
  readonly reason?: string | undefined;
}

const RULES: readonly Column<Rule>[] = [
  { title: 'RULE', value: ({ id }) => id },
  { title: 'DECISION', value: ({ decision }) => decision },
  { title: 'COMMANDS', value: ({ match }) => match },
  { title: 'WHY', value: ({ reason }) => reason ?? UNSAID, spare: true },
];
