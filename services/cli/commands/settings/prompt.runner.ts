import type { LoadedPrompt } from '#proto';
import { badInput, cleanLine, cleanText, tell, type CliContext, type ExitCode } from '../../terminal/index.js';
import { askPrompt, askSettings } from './settings.client.js';
import { SETTLED, type SettledService } from './settled.js';

interface FoundPrompt extends LoadedPrompt {
  readonly service: SettledService;
}

/** Shows a file of prompts. Its name may stand for two texts, where replicas differ or both services have one: then its hash is needed. */
export async function showPrompt(context: CliContext, name: string): Promise<ExitCode> {
  const found = await promptsCalled(context, name);
  const [first] = found;
  if (first === undefined)
    throw badInput(`No service has loaded a file of prompts ${cleanLine(name)}; see: orrery settings`);
  const others = found.filter(({ sha256 }) => sha256 !== first.sha256);
  if (others.length > 0) {
    const all = [first, ...others].map(({ sha256, file, service }) => `${sha256} (${file} of the ${service})`);
    throw badInput(`${cleanLine(name)} is more than one text: ${cleanLine(all.join(', '))}. Say the hash.`);
  }
  const { service, file, sha256 } = first;
  const text = await askPrompt(context, service, sha256);
  if (text === undefined) throw badInput(`No ${service} that answers has loaded ${cleanLine(file)} any more.`);
  return tell(context, { service, file, sha256, text }, cleanText(text.trimEnd()));
}

async function promptsCalled(context: CliContext, name: string): Promise<FoundPrompt[]> {
  const isCalled = ({ file, sha256 }: LoadedPrompt): boolean =>
    file === name || file.endsWith(`/${name}`) || (HASH_START.test(name) && sha256.startsWith(name));
  const services = await askSettings(context, SETTLED);
  return services.flatMap(({ service, replicas }) =>
    replicas.flatMap(({ prompts }) => prompts.filter(isCalled).map((prompt) => ({ ...prompt, service }))),
  );
}

const HASH_START = /^[0-9a-f]{4,64}$/u;
