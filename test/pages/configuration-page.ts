import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { z } from 'zod';
import { DatabaseConfig } from '../../libs/platform/config/database-url.js';
import { ServiceConfig } from '../../libs/platform/config/service-config.js';
import { AipGatewayConfig } from '../../services/aip-gateway/aip-gateway.config.js';
import { ConsoleEnv } from '../../services/console/console.config.js';
import { DeviceAgentConfig } from '../../services/device-agent/device-agent.config.js';
import { runCommandLine } from '../../services/device-client/cli/command-line.js';
import { LoggingConfig } from '../../services/logging/logging.config.js';
import { OrchestratorConfig } from '../../services/orchestrator/orchestrator.config.js';
import { PlannerConfig } from '../../services/planner/planner.config.js';
import { RegistryConfig } from '../../services/registry/registry.config.js';
import { SetupEnv } from '../../services/setup/setup.config.js';

const ROOT = join(import.meta.dirname, '../..');

type Shape = Readonly<Record<string, z.ZodType>>;
type Schema = { readonly shape: object } | { readonly in: unknown };

/** Who reads what, and where the schema of it stands with its comments. */
const READERS: readonly (readonly [heading: string, schema: Schema, file: string])[] = [
  ['Every service', ServiceConfig, 'libs/platform/config/service-config.ts'],
  ['Services with a database: registry, logging, planner', DatabaseConfig, 'libs/platform/config/database-url.ts'],
  ['orchestrator', OrchestratorConfig, 'services/orchestrator/orchestrator.config.ts'],
  ['registry', RegistryConfig, 'services/registry/registry.config.ts'],
  ['aip-gateway', AipGatewayConfig, 'services/aip-gateway/aip-gateway.config.ts'],
  ['device-agent', DeviceAgentConfig, 'services/device-agent/device-agent.config.ts'],
  ['planner', PlannerConfig, 'services/planner/planner.config.ts'],
  ['logging', LoggingConfig, 'services/logging/logging.config.ts'],
  ['console', ConsoleEnv, 'services/console/console.config.ts'],
  ['setup (containers)', SetupEnv, 'services/setup/setup.config.ts'],
];

/** The tables of docs/configuration.md, from the schemas and their comments. */
export async function configurationTables(): Promise<string> {
  const compose = readFileSync(join(ROOT, 'docker-compose.yml'), 'utf8');
  const tables = READERS.map(([heading, schema, file]) => {
    const comments = commentsIn(readFileSync(join(ROOT, file), 'utf8'));
    const rows = Object.entries(shapeOf(schema)).map(
      ([name, field]) =>
        `| \`${name}\` | ${cell(comments.get(name) ?? '')} | ${cell(wantedBy(field, name))} | ${defaultOf(field, name)} | ${new RegExp(`\\$\\{${name}[:}]`, 'u').test(compose) ? 'yes' : ''} |`,
    );
    return `## ${heading}\n\n| Variable | Means | Valid | Default | \`.env\` |\n| - | - | - | - | - |\n${rows.join('\n')}\n`;
  });
  const flags = (await deviceFlags()).map(([flag, means]) => `| \`${flag}\` | ${cell(means)} |`);
  return `${tables.join('\n')}\n## orrery-device join\n\n| Flag | Means |\n| - | - |\n${flags.join('\n')}\n`;
}

/** A schema that makes something of what it reads says what that is in its input. */
function shapeOf(schema: Schema): Shape {
  if ('shape' in schema) return schema.shape as Shape;
  return shapeOf(schema.in as Schema);
}

/** The comment before each variable, without what makes it a comment. */
function commentsIn(source: string): Map<string, string> {
  const found = source.matchAll(/\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s*\n\s*([A-Z][A-Z0-9_]+):/gu);
  return new Map(
    [...found].map(([, text = '', name = '']) => [name, text.replaceAll(/\s*\n?\s*\*?\s+/gu, ' ').trim()]),
  );
}

/** What is said to who sets something else; a text is whatever is there. */
function wantedBy(field: z.ZodType, name: string): string {
  const { success, error } = field.safeParse('\u0000');
  if (success) return name.endsWith('_FILE') ? 'a path' : 'a text';
  return (error.issues[0]?.message ?? '').replace(/^must be /u, '');
}

function defaultOf(field: z.ZodType, name: string): string {
  const { success, data } = field.safeParse(undefined);
  if (!success) return 'must be set';
  if (name === 'ORRERY_INSTANCE' || data === undefined || data === '' || (Array.isArray(data) && data.length === 0))
    return '';
  return `\`${typeof data === 'string' ? data : JSON.stringify(data)}\``;
}

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll(/<(?=\w)/gu, '\\<');

/** Of the client of a device, from its help. */
async function deviceFlags(): Promise<[string, string][]> {
  let help = '';
  const take = (text: string): void => void (help += text);
  const idle = () => Promise.resolve(0);
  const none = {
    join: idle,
    install: idle,
    run: idle,
    start: idle,
    status: idle,
    logs: idle,
    upgrade: idle,
    leave: idle,
  };
  await runCommandLine(['join', '--help'], { out: take, err: take }, none);
  const options = help.slice(help.indexOf('Options:')).split('\n\n', 1)[0] ?? '';
  return options
    .replaceAll(/\n {4,}/gu, ' ')
    .split('\n')
    .flatMap((line): [string, string][] => {
      const [, flag = '', means = ''] = /^ {2}(-\S.*?) {2,}(.*)$/u.exec(line) ?? [];
      return flag === '' || flag.includes('--help') ? [] : [[flag, means]];
    });
}
