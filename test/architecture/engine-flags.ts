import { isProduction } from './places.js';
import { each, type Rule } from './rule.js';
import type { Facts } from './source.js';

const BUNDLE = 'tools/bundle.mjs';
const SETS = /\bsetFlagsFromString\b/u;
const NAME = /^--[a-z-]+/u;

const saysFlags = ({ path, text }: Facts): boolean => path !== BUNDLE && SETS.test(text);
const flagsOf = ({ strings }: Facts): string[] => strings.flatMap((text) => NAME.exec(text) ?? []);

/** Flags that are said while a program runs and not before it is read; and who says some that cannot be seen. */
function lateFlags(files: readonly Facts[]): string[] {
  const early = new Set(files.filter(({ path }) => path === BUNDLE).flatMap(flagsOf));
  return files.filter(saysFlags).flatMap((file) => {
    const flags = flagsOf(file);
    if (flags.length === 0) return [`${file.path}: sets flags without naming them`];
    return flags.filter((flag) => !early.has(flag)).map((flag) => `${file.path}: ${flag} is not in ${BUNDLE}`);
  });
}

export const FLAG_RULE: Rule = {
  name: 'what a program tells V8 while it runs is told before it is read',
  reason: 'V8 takes kept code only under the flags under which it was kept: every start would compile everything again',
  covers: (path) => path === BUNDLE || (/^(?:libs|services)\//u.test(path) && isProduction(path)),
  offences: lateFlags,
  planted: [
    ...each(
      { path: 'libs/a/a.ts', text: `setFlagsFromString('--stack-size=900');` },
      { path: 'services/cli/a.ts', text: 'import v8 from "node:v8"; v8.setFlagsFromString(`--stack-size=${size}`);' },
      { path: 'libs/a/a.ts', text: 'setFlagsFromString(flag);' },
    ),
    [
      { path: BUNDLE, text: `const FLAGS = { a: ['--stack-size-of-another=1'] };` },
      { path: 'libs/a/a.ts', text: `setFlagsFromString('--stack-size=900');` },
    ],
  ],
};
