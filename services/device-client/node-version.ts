// Read by whatever Node there is, so nothing here is newer than ECMAScript 2015 and nothing is imported.

/** What package.json says under `engines`: major and minor. */
export const NODE_MIN = '22.22';

/** Why this Node cannot run the device client, in one sentence; null when it can. `version` as in `process.versions.node`. */
export function nodeComplaint(version: string): string | null {
  const numbers = (text: string): number[] => text.split('.').map(Number);
  const [major = 0, minor = 0] = numbers(version);
  const [wantedMajor = 0, wantedMinor = 0] = numbers(NODE_MIN);
  if (major > wantedMajor || (major === wantedMajor && minor >= wantedMinor)) return null;
  return `orrery-device needs Node ${NODE_MIN} or newer, and this is Node ${version}: run it with another node, for example node_modules/.bin/node of a prepared checkout.`;
}
