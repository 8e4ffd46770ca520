import type { PolicyInUse, PolicyLayer } from '#proto';
import { defaultPolicy, type CommandPolicy, type PolicyBody, type PolicyRule } from '../policy/index.js';
import { innerOf } from './open-policy.js';

/** A policy by the places that say it. `path`: where its file lies, if it was opened with one. */
export function policyInUse(policy: CommandPolicy, path: string | undefined): PolicyInUse {
  const file = innerOf(policy)?.file;
  const layers = [layerOf('built in', defaultPolicy)];
  if (file !== undefined) {
    const from = path ?? 'a file';
    layers.push(layerOf(from, file));
    for (const [index, { match, ...body }] of (file.devices ?? []).entries())
      layers.push({ ...layerOf(`${from}: devices[${index}]`, body), devices: match });
  }
  return { hash: policy.hash, layers };
}

function layerOf(from: string, body: PolicyBody): PolicyLayer {
  const { defaults = {}, rules = [], floor = [], sensitivePaths = [], writablePaths, programDirectories } = body;
  const tools = Object.entries(body.tools ?? {}).map(([name, rule]) => [
    name,
    typeof rule === 'string' ? rule : `a line for a shell in ${rule.shellLine}`,
  ]);
  return {
    from,
    defaults: Object.fromEntries(Object.entries(defaults).filter(([, decision]) => decision !== undefined)),
    rules: rules.map((rule) => ({ ...ruled(rule), decision: rule.decision })),
    floor: floor.map(ruled),
    sensitivePaths: [...sensitivePaths],
    ...(writablePaths !== undefined && { writablePaths: [...writablePaths] }),
    ...(programDirectories !== undefined && { programDirectories: [...programDirectories] }),
    tools: Object.fromEntries(tools) as Record<string, string>,
  };
}

const ruled = ({ id, match, reason }: Omit<PolicyRule, 'decision'>): PolicyLayer['floor'][number] => ({
  id,
  match: Object.entries(match)
    .map(([what, said]) => `${what} ${[said].flat().join(what === 'args' ? ' ' : ', ')}`)
    .join('; '),
  ...(reason !== undefined && { reason }),
});
