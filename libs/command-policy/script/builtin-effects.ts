import { addPlaces, ANYWHERE, assignVariable, placesAt, wordOf, type Scope, type Word } from '../words/index.js';

/** Built-ins that set variables that their arguments name. */
const SETTERS = new Set([
  'read',
  'mapfile',
  'readarray',
  'getopts',
  'printf',
  'let',
  'declare',
  'typeset',
  'local',
  'export',
  'readonly',
  'unset',
  'eval',
  'source',
  '.',
  'wait',
]);

/** What a built-in changes for the commands after it. */
export function applyBuiltin(words: readonly Word[], scope: Scope): void {
  const rest = words[0]?.text === 'builtin' || words[0]?.text === 'command' ? words.slice(1) : words;
  const [program, ...args] = rest;
  const name = program?.text;
  if (name === 'cd' || name === 'pushd' || name === 'popd') {
    const first = args.findIndex(({ text }) => text === undefined || !/^-[LPe@n]+$/u.test(text));
    const target = args[first]?.text === '--' ? args[first + 1] : args[first];
    const away = target === undefined ? (name === 'cd' ? wordOf([126], { home: true }) : undefined) : target;
    const isKnown = away !== undefined && away.text !== '-' && !away.dynamic;
    addPlaces(scope, isKnown ? placesAt(away, scope.places) : [ANYWHERE]);
  }
  // Whatever else a built-in or an unknown function sets, it names.
  if (name === undefined || SETTERS.has(name)) {
    if (args.some(({ text }) => text === undefined) || name === undefined) scope.variables = new Map();
    for (const { text } of args)
      if (text !== undefined) assignVariable(scope, text.replace(/[=[].*$/su, ''), undefined);
    if (name === 'mapfile' || name === 'readarray') assignVariable(scope, 'MAPFILE', undefined);
    if (name === 'read') assignVariable(scope, 'REPLY', undefined);
  }
}
