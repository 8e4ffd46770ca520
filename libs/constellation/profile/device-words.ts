import { NO_WALL, parseJson, typeOfKey, type AgentProfile, type Json } from '#proto';

/** Whether an installed client is another release than the offered one. A checkout of the same version is no other one. */
export function isBehind({ client }: Pick<AgentProfile, 'client'>, offered: string): boolean {
  return client !== undefined && client !== offered && !offered.startsWith(`${client}-`);
}

/** What makes the wall around judged commands of a device, and what of the machine can be shown behind it. */
export function deviceWallText({ wall }: Pick<AgentProfile, 'wall'>): string {
  if (wall === undefined) return 'unknown: its client does not say';
  if (wall.kind === NO_WALL) return 'none: judged commands run with the rights of its client';
  const user = wall.runsAs === undefined ? '' : `, as user ${wall.runsAs}`;
  // Nothing but the filter lets a command see a network and not speak in it.
  const filter = wall.views.includes('host-network') ? '' : ' without a filter of kernel calls';
  return `${wall.kind}${filter}, with a view of ${wall.views.join(', ') || 'nothing but files'}${user}`;
}

/** What is typed as a value of a profile: JSON where it is some, else a text. Where the type is known, a text stays one, and a list may be written with commas. */
export function typedProfileValue(key: string, text: string): Json {
  const type = typeOfKey(key);
  if (type === 'text' && !text.startsWith('"')) return text;
  if (type === 'texts' && !text.startsWith('[')) return text.split(',').flatMap((part) => part.trim() || []);
  const value = parseJson(text);
  return value === undefined ? text : (value as Json);
}
