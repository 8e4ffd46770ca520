import type { CommandClass } from '#proto';
import {
  dynamic,
  floor,
  notUnderstood,
  type CommandFinding,
  type Invocation,
  ANY,
  glyphsOf,
  isStatic,
  pathSet,
  showGlyphs,
  type Glyphs,
  type PathSet,
  type View,
  resolvePath,
  spelled,
  showWord,
  type Word,
} from '../words/index.js';
import { type FilesKnown, led } from './links.js';
import { readScript, type ShellParser } from '../script/index.js';
import {
  BLOCK_DEVICES,
  ENDLESS,
  HARMLESS_DEVICES,
  alternatives,
  ROOTS,
  VITAL_PATHS,
  type Settings,
} from '../policy/index.js';

const vital = pathSet(VITAL_PATHS);
const blocks = pathSet(BLOCK_DEVICES);
const endless = pathSet(ENDLESS);
/** Places where everybody has directories that are closed to others. */
const aroundPrivate = pathSet(['/tmp', '/var/tmp']);
/** Places below which something is hidden behind every wall. */
const aroundHidden = pathSet(
  [
    '/',
    '/dev',
    '/run',
    '/home',
    '/home/*',
    '/root',
    '/etc',
    '/etc/{ssl,ssh,pki,NetworkManager}',
    '/var',
    '/var/{lib,spool,run}',
  ].flatMap(alternatives),
);

/** Files that are not the same for everybody who looks at them. */
const VIEWED: readonly (readonly [View, PathSet])[] = [
  ['host-processes', pathSet(['/proc', '/proc/{0,1,2,3,4,5,6,7,8,9}*{,/**}'].flatMap(alternatives))],
  ['host-network', pathSet(['/proc/{net,*/net,sys/net}{,/**}', '/sys/class/net{,/**}'].flatMap(alternatives))],
  ['privileged-read', pathSet(['/var/log', '/var/log/**'])],
  ['owners', pathSet(['/proc/*/status', '/proc/{net,*/net}/{tcp,udp,raw}{,6}'].flatMap(alternatives))],
  ['host-tmp', pathSet(['/tmp', '/tmp/**'])],
  ['host-devices', pathSet(['/dev', '/dev/**'])],
  [
    'whole-machine',
    pathSet(
      [
        '/etc/mtab',
        '/proc/{mounts,locks,sysvipc,self/mount*,*/mount*,*/ns,*/wchan,*/smaps*,*/io}',
        '/proc/{sysvipc,*/ns}/**',
        '/proc/sys/{kernel/{shm,msg,sem,pid_max,ns_last_pid}*,fs/mqueue/**,user/**}',
      ].flatMap(alternatives),
    ),
  ],
];

const inTmp = pathSet(['/tmp/**']);
const forEverybody = pathSet(['/{tmp,var/tmp,dev/shm}/**'].flatMap(alternatives));

/** How deep commands may hide in commands. */
const DEPTH_MAX = 6;
/** Commands that one text may come to with all that hide in it. */
const COMMANDS_MAX = 400;

/** What everybody needs who judges a part of one command text. */
export interface CallJudging {
  readonly settings: Settings;
  readonly parser: ShellParser;
  readonly files: FilesKnown;
  readonly depth: number;
  readonly budget: { left: number };
  readonly judge: (invocation: Invocation, judging: CallJudging) => readonly CommandFinding[];
  /** Is told of every command and what was found in it. */
  readonly trace?: ((invocation: Invocation, findings: readonly CommandFinding[]) => void) | undefined;
}

/** One program with its arguments, and what can be asked about them. */
export class Call {
  /** Every path that was asked about. */
  readonly #paths: Glyphs[] = [];
  readonly #parts: Call[] = [];
  /** Other commands were judged as a part of this one. */
  startsOthers = false;

  constructor(
    readonly name: string,
    readonly args: readonly Word[],
    readonly invocation: Invocation,
    readonly judging: CallJudging,
  ) {}

  /** The same call, seen from behind its subcommand. */
  under(name: string, subcommand: Word, args: readonly Word[]): Call {
    const call = new Call(`${name} ${subcommand.text ?? ''}`, args, this.invocation, this.judging);
    this.#parts.push(call);
    return call;
  }

  /** Every path that this call and its parts asked about. */
  get allPaths(): readonly Glyphs[] {
    return [...this.#paths, ...this.#parts.flatMap(({ allPaths }) => allPaths)];
  }

  is(of: CommandClass, what: string, rule = `program.${this.name.replaceAll(' ', '.')}`): CommandFinding {
    return { kind: 'program', class: of, rule, reason: `${this.name} ${what}` };
  }

  /** A person is asked, whatever the class gives. */
  ask(of: CommandClass, what: string, more: Partial<CommandFinding> = {}): CommandFinding {
    return { ...this.is(of, what), atLeast: 'approve', ...more };
  }

  read(word: Word): CommandFinding[] {
    const paths = this.resolve(word);
    if (paths === undefined) return [this.#unknownPath(word)];
    const found = paths.flatMap((path) => {
      if (/^\/(?:dev\/(?:tcp|udp)|inet6?)\//u.test(showGlyphs(path)))
        return [this.#at(path, 'network', 'path.network', 'is a connection')];
      const secret = secretAt(path, word, this.judging);
      if (secret !== undefined) return [this.#at(path, 'privileged', 'path.sensitive', `may hold secrets (${secret})`)];
      // Of a path that can be anything this would always be true.
      if (path.includes(ANY) || endless.find(path) === undefined) return [];
      return [this.#at(path, 'read', 'path.endless', 'has no end')];
    });
    return [...found, ...this.look(word), ...this.#changeable(word, paths)];
  }

  /** What lies where commands may write can be something else by the time it is read; that is for a wall to hold, and where there is none for nobody. */
  #changeable(word: Word, paths: readonly Glyphs[]): CommandFinding[] {
    const { settings, files } = this.judging;
    const isTheirs = (path: Glyphs): boolean =>
      /^[.~]/u.test(showGlyphs(path)) ||
      path[0] === ANY ||
      forEverybody.find(path) !== undefined ||
      settings.writable.covers(path);
    // Where links lead is looked at on the device: only for who needs it.
    const isKnown = (all: readonly Glyphs[]): boolean => {
      const known = typeof files === 'string' ? [] : files.ofCommands;
      const texts = all.map(showGlyphs);
      return known.some((place) => texts.some((text) => text === place || text.startsWith(`${place}/`)));
    };
    const all = [...paths, ...spelled(word, this.invocation.places)];
    return all.some(isTheirs) || isKnown(all)
      ? [{ ...this.is('read', 'reads what commands may change.', 'path.view'), isChangeable: true }]
      : [];
  }

  /** What must be seen for what is there to be true: `/proc/net` and its like are made for who looks. */
  look(word: Word): CommandFinding[] {
    return resolvePath(word, this.invocation.places).flatMap((path) => {
      const text = showGlyphs(path);
      if (HARMLESS_DEVICES.has(text) || /^\/dev\/(?:fd\/\d+|zero|u?random)$/u.test(text)) return [];
      const views = VIEWED.filter(([, set]) => set.find(path) !== undefined).map(([view]) => view);
      return views.length === 0 || path.includes(ANY)
        ? []
        : [{ ...this.is('read', `looks at ${text}.`, 'path.view'), views }];
    });
  }

  /** With its size and mode, or those of what is below: something else stands where a wall hides what is there. */
  lookThrough(word: Word): CommandFinding[] {
    const { sensitive } = this.judging.settings;
    return resolvePath(word, this.invocation.places).flatMap((path) => {
      const isAround = aroundHidden.find(path) !== undefined || (isStatic(path) && sensitive.find(path) !== undefined);
      if (!isAround && aroundPrivate.find(path) === undefined) return [];
      const views: readonly View[] = isAround ? ['whole-machine'] : ['privileged-read'];
      return [{ ...this.is('read', `looks through ${showGlyphs(path)}.`, 'path.view'), views }];
    });
  }

  /** A folder with all that is in it. */
  readTree(word: Word): CommandFinding[] {
    const paths = this.resolve(word);
    if (paths === undefined) return [this.#unknownPath(word)];
    const below = paths.flatMap((path) => {
      const secret = this.judging.settings.sensitive.below(path);
      return secret === undefined
        ? []
        : [this.#at(path, 'privileged', 'path.sensitive', `holds what may be secret (${secret})`)];
    });
    return [...this.read(word), ...below, ...this.#lyingBelow(paths)];
  }

  /** Who goes through a folder reads what lies in it, and may follow the links. */
  #lyingBelow(paths: readonly Glyphs[]): CommandFinding[] {
    return paths.flatMap((folder) => {
      const secret = secretBelow(folder, this.judging);
      return secret === undefined
        ? []
        : [this.#at(folder, 'privileged', 'path.sensitive', `holds or leads to what may be secret (${secret})`)];
    });
  }

  write(word: Word): CommandFinding[] {
    const paths = this.resolve(word);
    if (paths === undefined) return [this.#unknownPath(word)];
    return paths.flatMap((path) => this.#written(path, word.found === true));
  }

  /** A folder that files of unknown names are written into. */
  writeTree(word: Word): CommandFinding[] {
    const below = (this.resolve(word) ?? []).flatMap((path) => {
      const guard = this.judging.settings.guarded.below(path);
      return guard === undefined
        ? []
        : [this.#at(path, 'privileged', 'path.guarded', `can hold what decides what runs (${guard})`)];
    });
    return [...this.write(word), ...below];
  }

  /** To take a file away, or a folder with all that is in it. */
  remove(word: Word): CommandFinding[] {
    const paths = this.resolve(word);
    if (paths === undefined) return [this.#unknownPath(word), this.is('destructive', 'removes files.')];
    return paths.flatMap((path) => [...this.rootFindings(path), ...this.#removed(path, word.found === true)]);
  }

  /** Whether the path is one of those without which there is no machine. */
  rootFindings(path: Glyphs): CommandFinding[] {
    const text = showGlyphs(path);
    const folder = text.replace(/(?:\/(?:\*+|\?\**|\.\*))+$/u, '') || '/';
    return ROOTS.has(folder) ? [floor('system-root', `${this.name} would reach all of ${folder}.`)] : [];
  }

  resolve(word: Word): readonly Glyphs[] | undefined {
    const { places } = this.invocation;
    if (word.dynamic && word.found !== true) return undefined;
    const { files } = this.judging;
    const written = resolvePath(word, places);
    const paths =
      typeof files === 'string' ? written : [...written, ...spelled(word, places).flatMap((path) => led(path, files))];
    this.#paths.push(...paths);
    return paths;
  }

  /** Another command that this one starts. */
  run(words: readonly Word[], more: Partial<Invocation> = {}): readonly CommandFinding[] {
    const { judging } = this;
    this.startsOthers = true;
    if (judging.depth >= DEPTH_MAX || judging.budget.left <= 0)
      return [notUnderstood('Commands hide in commands too deeply.')];
    return judging.judge(
      { ...this.invocation, redirects: [], assignments: [], ...more, words },
      { ...judging, depth: judging.depth + 1 },
    );
  }

  /** Shell text that this command starts. */
  script(text: string): readonly CommandFinding[] {
    const { judging, invocation } = this;
    this.startsOthers = true;
    if (judging.depth >= DEPTH_MAX || judging.budget.left <= 0)
      return [notUnderstood('Commands hide in commands too deeply.')];
    const script = readScript(text, judging.parser, { places: invocation.places, input: invocation.input });
    const inner = { ...judging, depth: judging.depth + 1 };
    return [...script.findings, ...script.invocations.flatMap((one) => judging.judge(one, inner))];
  }

  /** Arguments that may be commands of their own: what must never run must not run there either. */
  floorsIn(words: readonly Word[]): CommandFinding[] {
    if (this.judging.depth >= 3) return [];
    const quiet: Call = new Call(this.name, this.args, this.invocation, { ...this.judging, trace: undefined });
    const found = words.slice(0, 24).flatMap((word, at): readonly CommandFinding[] => {
      if (word.text === undefined) return [];
      if (/\s/u.test(word.text)) return quiet.script(word.text).filter(({ kind }) => kind === 'floor');
      return /^[/\w.-]+$/u.test(word.text) && !word.text.startsWith('-')
        ? quiet.run(words.slice(at)).filter(({ kind }) => kind === 'floor')
        : [];
    });
    return found.slice(0, 3);
  }

  #written(path: Glyphs, found: boolean): CommandFinding[] {
    const text = showGlyphs(path);
    const { settings } = this.judging;
    if (HARMLESS_DEVICES.has(text) || /^\/(?:dev|proc\/self)\/fd\/\d+$/u.test(text)) return [];
    if (/^\/dev\/(?:tcp|udp)(?:\/|$)/u.test(text))
      return [floor('shell-socket', 'A shell would open a connection by a path.')];
    // Of a path that can be anything this would always be true: it is asked about below.
    if (!path.includes(ANY) && blocks.find(path) !== undefined) return [floor('block-device', `${text} is a disk.`)];
    if (text === '/proc/sysrq-trigger') return [floor('sysrq', 'It would stop the kernel.')];
    if (text.startsWith('/boot/')) return [floor('boot', `${text} is needed to start the machine.`)];
    const guard = settings.guarded.find(path) ?? settings.sensitive.find(path);
    if (guard !== undefined && !found)
      return [this.#at(path, 'privileged', 'path.guarded', `decides what runs or who may come in (${guard})`)];
    const start = found && path.includes(ANY) ? path.slice(0, path.indexOf(ANY) - 1) : path;
    const own = start[0] === 46 && (start.length === 1 || start[1] === 47);
    if (own || settings.writable.covers(start) || settings.writable.covers([...start, ...glyphsOf('/x')]))
      return [
        {
          kind: 'program',
          class: 'write',
          rule: 'path.write',
          reason: `${this.name} writes ${text}.`,
          path: text,
          changes: placeOf(path),
          ...(inTmp.find(path) === undefined ? {} : { views: ['host-tmp'] as const }),
        },
      ];
    return [this.#at(path, 'privileged', 'path.system', 'is no place for ordinary files')];
  }

  #removed(path: Glyphs, found: boolean): CommandFinding[] {
    const text = showGlyphs(path);
    if (isStatic(path) && vital.find(path) !== undefined)
      return [floor('vital-file', `Without ${text} nobody can log in.`)];
    const written = this.#written(path, found);
    const removed = this.is('destructive', `removes ${text}.`);
    return [...written.filter((finding) => finding.class !== 'write'), { ...removed, changes: placeOf(path) }];
  }

  #at(path: Glyphs, of: CommandClass, rule: string, what: string): CommandFinding {
    const text = showGlyphs(path);
    return { kind: 'path', class: of, atLeast: 'approve', rule, reason: `${text} ${what}.`, path: text };
  }

  #unknownPath(word: Word): CommandFinding {
    return dynamic('dynamic-path', `Which file ${this.name} would use is known only when it runs: ${showWord(word)}.`);
  }
}

/** Of what is made or taken away that is the folder in which it lies. */
const placeOf = (path: Glyphs): string => showGlyphs(path).replace(/\/[^/]*$/u, '') || '/';

/** Of what can lie anywhere, what lies below a folder of this device now, or where a link in it leads: its own place is known by its name. */
function secretBelow(folder: Glyphs, { settings: { sensitive }, files }: CallJudging): string | undefined {
  if (typeof files === 'string' || !isStatic(folder)) return undefined;
  const below = files.below(showGlyphs(folder));
  for (const name of below.files) {
    const secret = sensitive.find(glyphsOf(name.startsWith('/') ? name : `/${name}`));
    if (secret !== undefined) return secret;
  }
  for (const target of below.targets) {
    const secret = sensitive.find(glyphsOf(target)) ?? sensitive.below(glyphsOf(target));
    if (secret !== undefined) return secret;
  }
  return undefined;
}

function secretAt(path: Glyphs, word: Word, judging: CallJudging): string | undefined {
  const { files, settings } = judging;
  const { sensitive } = settings;
  const isPattern = !isStatic(path) && !path.includes(ANY);
  // What such a pattern stands for is looked at where it lies, name by name.
  if (isPattern && files !== 'nobody') return sensitive.findNamed(path);
  if (word.found !== true || !path.includes(ANY)) return sensitive.find(path);
  const folder = path.slice(0, -2);
  return path.at(-1) === ANY ? (sensitive.below(folder) ?? secretBelow(folder, judging)) : sensitive.findAmong(path);
}

export const startingBudget = (): { left: number } => ({ left: COMMANDS_MAX });
