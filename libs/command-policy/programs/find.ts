import type { Call, ProgramJudge } from '../calls/index.js';
import {
  type CommandFinding,
  ANY,
  glyphsOf,
  SOME,
  unknownOption,
  literal,
  showWord,
  wordOf,
  type Word,
} from '../words/index.js';

const PLAIN = new Set(
  '-H -L -P -daystart -depth -d -follow -ignore_readdir_race -noignore_readdir_race -mount -xdev -noleaf -warn -nowarn -empty -executable -readable -writable -nouser -nogroup -true -false -print -print0 -ls -prune -quit -o -or -a -and -not ! ( ) , -help -version'.split(
    ' ',
  ),
);
const VALUED = new Set(
  '-D -maxdepth -mindepth -regextype -amin -anewer -atime -cmin -cnewer -ctime -fstype -gid -group -ilname -iname -inum -ipath -iregex -iwholename -links -lname -mmin -mtime -name -newer -newermt -newerat -newerct -path -perm -regex -samefile -size -type -uid -used -user -wholename -xtype -context -printf -O'.split(
    ' ',
  ),
);
const RUNS = new Set(['-exec', '-execdir', '-ok', '-okdir']);
/** A pattern of `find`, not of the shell: it also stands for a dot at the beginning. */
const ANYTHING = [SOME, SOME];
/** What depends on whose a file is. */
const OWNERS = /^-(?:ls|fls|fprintf|user|group|uid|gid|nouser|nogroup)$/u;
const WRITES = new Map([
  ['-fprint', 1],
  ['-fprint0', 1],
  ['-fls', 1],
  ['-fprintf', 2],
]);

/** Looks for files, and does something with each. */
export const find: ProgramJudge = (call) => new Search(call).findings();

class Search {
  readonly #found: CommandFinding[] = [];
  readonly #roots: Word[] = [];
  readonly #names: Word[] = [];
  #at = 0;

  readonly #call: Call;

  constructor(call: Call) {
    this.#call = call;
  }

  findings(): readonly CommandFinding[] {
    const { args } = this.#call;
    this.#found.push(this.#call.is('read', 'looks for files.'));
    while (this.#at < args.length && !/^[-(!,)]/u.test(args[this.#at]?.text ?? 'x'))
      this.#roots.push(args[this.#at++] ?? literal('.'));
    const start = this.#at;
    // What is looked for is known only after all of it was read; commands come second.
    this.#follow(false);
    this.#at = start;
    this.#follow(true);
    for (const root of this.#roots) this.#found.push(...this.#call.look(root), ...this.#call.lookThrough(root));
    if (
      args.some(
        ({ text }, at) =>
          OWNERS.test(text ?? '') || (args[at - 1]?.text === '-printf' && text?.match(/%[-+ #0-9.]*[uUgG]/u) !== null),
      )
    )
      this.#found.push({ ...this.#call.is('read', 'looks at whose files are.'), views: ['owners'] });
    for (const root of this.#roots) if (root.dynamic && root.found !== true) this.#found.push(...this.#call.read(root));
    return this.#found;
  }

  #follow(acts: boolean): void {
    const call = this.#call;
    const { args } = call;
    while (this.#at < args.length) {
      const word = args[this.#at++] ?? literal('');
      const name = word.text ?? '';
      if (RUNS.has(name)) this.#command(acts);
      else if (WRITES.has(name)) {
        const [file] = args.slice(this.#at, (this.#at += WRITES.get(name) ?? 1));
        if (acts && file !== undefined)
          this.#found.push(...call.write(file), call.is('write', 'writes what it finds.'));
      } else if (name === '-delete') {
        if (acts) this.#delete();
      } else if (VALUED.has(name)) {
        const value = args[this.#at++];
        if (!acts && value !== undefined && (name === '-name' || name === '-iname')) this.#names.push(value);
      } else if (name === '-files0-from' || !(PLAIN.has(name) || /^-O[0-3]$/u.test(name))) {
        if (acts) this.#found.push(unknownOption('find', showWord(word)));
      }
    }
  }

  #delete(): void {
    const call = this.#call;
    this.#found.push(call.is('destructive', 'removes what it finds.'));
    for (const root of this.#places()) {
      for (const path of call.resolve(root) ?? []) this.#found.push(...call.rootFindings(path));
      this.#found.push(...call.write(root).filter((finding) => finding.class !== 'write'));
    }
  }

  #places(): readonly Word[] {
    return this.#roots.length > 0 ? this.#roots : [literal('.')];
  }

  #command(acts: boolean): void {
    const call = this.#call;
    const { args } = call;
    const end = args.findIndex(
      ({ text }, at) => at >= this.#at && (text === ';' || (text === '+' && args[at - 1]?.text === '{}')),
    );
    const words = args.slice(this.#at, end < 0 ? undefined : end);
    this.#at = end < 0 ? args.length : end + 1;
    if (!acts) return;
    if (end < 0 || words.length === 0) {
      this.#found.push(call.ask('privileged', 'has a command without an end.'));
      return;
    }
    for (const file of this.#files()) {
      const filled = words.map((word) => (word.text === '{}' ? file : holds(word) ? wordOf([ANY]) : word));
      this.#found.push(...call.run(filled));
    }
    if (!words.some(holdsAny))
      this.#found.push(call.ask('privileged', 'runs a command for each file that it finds.', { grantable: false }));
    if (words.some((word) => word.text !== '{}' && holds(word)))
      this.#found.push(call.ask('privileged', 'puts names of files into a command.', { grantable: false }));
  }

  /** What `{}` can be: files below the roots, with the names that are looked for when there is one. */
  #files(): readonly Word[] {
    return filesBelow(this.#places(), this.#names);
  }
}

const holdsAny = ({ text }: Word): boolean => text?.includes('{}') === true;
const holds = ({ text }: Word): boolean => text !== undefined && text.includes('{}') && text !== '{}';

export function filesBelow(roots: readonly Word[], names: readonly Word[]): readonly Word[] {
  return roots.flatMap((root) => {
    if (root.dynamic && root.found !== true) return [wordOf([ANY])];
    const below = [...root.glyphs, ...glyphsOf('/'), ANY];
    const shape = { home: root.home, found: true, dynamic: false };
    // A name that is looked for can also be one that begins with a dot.
    const named = names.map(({ glyphs }) => [
      ...below,
      ...glyphsOf('/'),
      ...glyphs.flatMap((code) => (code < 0 || '*?['.includes(String.fromCharCode(code)) ? ANYTHING : [code])),
    ]);
    // What is found can also be where the search began.
    return [root, ...[below, ...named].map((glyphs) => wordOf(glyphs, shape))];
  });
}

/** What a command that lists files would print, one name a line. */
export function listedFiles(name: string, args: readonly Word[]): readonly Word[] | undefined {
  if (name === 'ls') {
    if (args.some(({ text }) => text?.startsWith('-') && !/^-1?$/u.test(text))) return undefined;
    const operands = args.filter(({ text }) => !text?.startsWith('-'));
    if (operands.length === 0) return [wordOf([SOME])];
    return operands.every(({ dynamic, glyphs }) => !dynamic && glyphs.some((glyph) => glyph < 0))
      ? operands
      : undefined;
  }
  if (name !== 'find') return undefined;
  if (
    args.some(
      ({ text }) =>
        text === undefined ||
        RUNS.has(text) ||
        WRITES.has(text) ||
        text === '-printf' ||
        text === '-ls' ||
        text === '-files0-from',
    )
  )
    return undefined;
  const first = args.findIndex(({ text }) => /^[-(!]/u.test(text ?? ''));
  const roots = args.slice(0, first < 0 ? undefined : first);
  const names = args.filter((_, at) => args[at - 1]?.text === '-name' || args[at - 1]?.text === '-iname');
  return filesBelow(roots.length > 0 ? roots : [literal('.')], names);
}
