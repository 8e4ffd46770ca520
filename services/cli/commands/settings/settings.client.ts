import { queryAll } from '#libs/messaging';
import type { SettingsInUse } from '#proto';
import { withBus } from '../../bus/index.js';
import type { CliContext } from '../../terminal/index.js';
import type { SettledService } from './settled.js';

/** What one service works by, by every replica that has answered. */
export interface ServiceSettings {
  readonly service: SettledService;
  readonly replicas: readonly SettingsInUse[];
}

/** Asks every replica of these services. Throws CliError when one of the services says nothing: half of it would be taken for the whole. */
export function askSettings(context: CliContext, services: readonly SettledService[]): Promise<ServiceSettings[]> {
  return withBus(context, (nc) =>
    Promise.all(services.map(async (service) => ({ service, replicas: await queryAll(nc, service, 'settings', {}) }))),
  );
}

/** The text of a file of prompts; undefined when nobody who answers has it any more. */
export function askPrompt(context: CliContext, service: SettledService, sha256: string): Promise<string | undefined> {
  return withBus(context, async (nc) => {
    const answers = await queryAll(nc, service, 'prompt', { sha256 });
    return answers.find(({ text }) => text !== null)?.text ?? undefined;
  });
}
