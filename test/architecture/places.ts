/** Which part of the tree a path belongs to: style and rules are about these, not about single files. */

export const isTypeScript = (path: string): boolean => path.endsWith('.ts') || path.endsWith('.tsx');
export const isSpec = (path: string): boolean => /\.spec\.tsx?$/u.test(path);
/** What only tests load: hand-written runs, scripted peers, suites for several implementations. */
export const isTestSupport = (path: string): boolean =>
  /(?:^|\/)testing\/|\.testing\.ts$|\.contract\.ts$/u.test(path) || path.startsWith('test/');
/** Types of something that is no TypeScript: nothing of them is ever loaded. */
const isDeclaration = (path: string): boolean => path.endsWith('.d.ts');
export const isProduction = (path: string): boolean =>
  isTypeScript(path) && !isSpec(path) && !isTestSupport(path) && !isDeclaration(path);

/** The parts that the house is built of. */
export const isHouse = (path: string): boolean => isProduction(path) && /^(?:proto|libs|services)\//u.test(path);

/** Role suffixes of files that touch the world. */
const ROLES =
  'command|handler|reactor|consumer|projector|controller|gateway|adapter|runner|client|module|config|strategy|filter|guard|entity|main';
const ROLE = new RegExp(`\\.(?:${ROLES})\\.ts$`, 'u');
export const hasRole = (path: string): boolean => ROLE.test(path) || path.endsWith('/main.ts');
export const isBarrel = (path: string): boolean => path.endsWith('/index.ts');

/** `libs/aip/session/session.ts` -> `aip`. */
export const libOf = (path: string): string | undefined => /^libs\/([^/]+)\//u.exec(path)?.[1];
export const serviceOf = (path: string): string | undefined => /^services\/([^/]+)\//u.exec(path)?.[1];

const CORES = new Set([
  'actors',
  'attempt',
  'attention',
  'backoff',
  'constellation',
  'device-agent',
  'fleet',
  'planner',
  'prompter',
  'screen',
  'visible',
]);

/** The functional core: no clock, dice, I/O, waiting, framework. */
export function isCore(path: string): boolean {
  const lib = libOf(path);
  if (lib === undefined || !isProduction(path) || isBarrel(path)) return false;
  return CORES.has(lib) || (lib === 'aip' && !hasRole(path));
}

/** A path made of an importing file and a relative specifier, without `.` and `..`. */
export function resolved(path: string, specifier: string): string {
  const parts = path.split('/').slice(0, -1);
  for (const part of specifier.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '.') parts.push(part);
  }
  return parts.join('/');
}

export const isRelative = (specifier: string): boolean => specifier.startsWith('.');
