import { alike } from '#proto';
import { EXIT, printJson, type CliContext, type ExitCode } from '../../terminal/index.js';
import { askSettings } from './settings.client.js';
import { settingsText } from './settings-text.js';
import { SETTLED, type SettledService } from './settled.js';

export interface SettingsOptions {
  readonly service?: SettledService | undefined;
}

/** Shows what services work by. Replicas that differ are shown each by itself. */
export async function showSettings(context: CliContext, { service }: SettingsOptions): Promise<ExitCode> {
  const services = await askSettings(context, service === undefined ? SETTLED : [service]);
  if (context.json) {
    printJson(context, { services });
    return EXIT.ok;
  }
  const { terminal } = context;
  const texts = services.map(({ service: name, replicas }) => settingsText(name, alike(replicas), terminal));
  terminal.out(texts.join('\n\n'));
  for (const { service: name, replicas } of services) {
    if (alike(replicas).length > 1)
      terminal.err(`Replicas of the ${name} work by different settings: which one does a piece of work is chance.`);
  }
  return EXIT.ok;
}
