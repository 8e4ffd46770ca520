import {
  isCollectorTool,
  OFFICE_TOOLS,
  pageAddressOf,
  secretNamed,
  type CommandCall,
  type CommandClass,
  type Json,
  type ScreenPlace,
} from '#proto';
import { isReachingFormula, isSpreadsheet, programName, typedFormula, type TypedRun } from '#libs/screen';
import { floor, type CommandFinding } from '../words/index.js';
import { keysMeaning } from './keys.js';
import { isInRun, type RealPlaces } from './run-place.js';
import { isAddressBar, isCommitLike, isFileDialog, isPassword, isTerminalProgram } from './words.js';

/** Programs whose windows may be worked in unasked, by the names that `programName` gives. */
export type ListedApplications = ReadonlySet<string>;

/**
 * What is to be said of a call on a screen, by what its agent has seen there and by its arguments alone: the device compares both
 * with what is really there before it acts. Without what was seen nothing but looking runs unasked. `links`: the files of the device
 * that judges itself.
 */
export function screenFindings(
  command: CommandCall,
  listed: ListedApplications,
  links?: RealPlaces,
): readonly CommandFinding[] {
  const { tool, arguments: given, on } = command;
  if (isCollectorTool(tool)) return [plain('read', 'look', `${tool} looks at the screen.`)];
  switch (tool) {
    case 'wait':
    case 'wait_until_settled':
    case 'summary':
      return [plain('read', 'quiet', `${tool} touches nothing.`)];
    case 'texts':
      return [...passwords(on), plain('read', 'look', 'It reads what a control shows.')];
    case 'select_application_window':
      return [plain('write', 'select', 'It brings a window to the front.')];
    case 'run_shell':
      return [asks('privileged', 'run', 'It starts a program with a line for it.')];
    case 'launch_application':
      return launching(given, listed);
    default:
      return [...acting(command, links), ...(isListed(on, listed) ? [] : [unlisted(on)])];
  }
}

/** What acts in a window. */
function acting({ tool, arguments: given, on }: CommandCall, links: RealPlaces | undefined): readonly CommandFinding[] {
  const inTerminal = isTerminalProgram(on?.application ?? '') || on?.control?.type === 'Terminal';
  const isMiddle = given['button'] === 'middle';
  switch (tool) {
    case 'click_input':
      return [...(inTerminal && isMiddle ? [TERMINAL] : []), ...clicking(on)];
    case 'click_on_coordinates':
    case 'drag_on_coordinates':
      return [
        ...(inTerminal && isMiddle ? [TERMINAL] : []),
        asks('privileged', 'coordinates', 'A place in a window says nothing of what is there.'),
      ];
    case 'set_edit_text':
      return [...(inTerminal ? [TERMINAL] : []), ...setting(given, on, links)];
    case 'keyboard_input':
      return [...(inTerminal ? [TERMINAL] : []), ...passwords(on), ...pressing(textOf(given['keys']), on)];
    case 'wheel_mouse_input':
      return [plain('write', 'scroll', 'It scrolls.')];
    case 'open_page':
      return opening(given['url']);
    case 'read_page':
      return [plain('read', 'page', 'It reads the page that a browser shows.')];
    case 'click_on_page':
      return clicking(on);
    case 'download_from_page':
      return [...clicking(on), asks('network', 'download', 'It keeps a file that a page gives.')];
    default:
      return office(tool, given, on);
  }
}

/** A page is as an address line is: it says whom the browser speaks to. */
function opening(url: Json | undefined): readonly CommandFinding[] {
  const address = pageAddressOf(url);
  if ('why' in address) return [floor('screen.address', `No such page is opened: ${address.why}.`)];
  return [asks('network', 'address', `It opens ${JSON.stringify(address.href.slice(0, 200))}.`)];
}

function clicking(on: ScreenPlace | undefined): readonly CommandFinding[] {
  const { control } = on ?? {};
  if (control === undefined) return [asks('privileged', 'control', 'Nobody knows what it clicks on.')];
  if (isCommitLike(control.name))
    return [asks('destructive', 'commit', `What it clicks on is named ${JSON.stringify(control.name.slice(0, 80))}.`)];
  return [plain('write', 'click', `It clicks on ${control.type === '' ? 'a control' : control.type}.`)];
}

/**
 * In a dialog for files a name alone stays in the directory that is shown; a path chooses the place, and what starts by itself is hidden.
 * The directory of the run is no place to be chosen, where the whole field says it.
 */
function setting(
  { text: given, clear_current_text: isWhole }: CommandCall['arguments'],
  on: ScreenPlace | undefined,
  links: RealPlaces | undefined,
): readonly CommandFinding[] {
  const secret = secretNamed(given);
  if (secret !== undefined) return [puttingSecret(secret, on)];
  const text = textOf(given);
  const isOfRun = isWhole === true && isInRun(text, on?.runDirectory, links);
  return [...passwords(on), ...settingText(text, on, isOfRun)];
}

function settingText(text: string, on: ScreenPlace | undefined, isOfRun: boolean): readonly CommandFinding[] {
  const name = on?.control?.name ?? '';
  if (on?.control === undefined) return [asks('privileged', 'control', 'Nobody knows which field it fills.')];
  if (isAddressBar(name)) return [asks('network', 'address', 'It says which page is to be opened.')];
  if (!isOfRun && (isFileDialog(on.window) || on.runDirectory !== undefined) && /[/\\]|^\s*[.~]/u.test(text))
    return [asks('privileged', 'path', 'It names a place for a file by its path, or a file that is hidden.')];
  return [...formulas([{ text, isEntered: false }], on), plain('write', 'text', 'It sets the text of a field.')];
}

/** A secret of the device by its name: the device puts its value into password fields only, of programs that its owner lets have it. */
function puttingSecret(secret: string, on: ScreenPlace | undefined): CommandFinding {
  const field = on?.control === undefined ? 'a field that nobody knows' : `the field ${quoted(on.control.name)}`;
  const window = on === undefined ? '' : ` of the window ${quoted(on.window)} of ${quoted(on.application)}`;
  return asks('privileged', 'secret', `It puts the secret ${quoted(secret)} of the device into ${field}${window}.`);
}

const quoted = (text: string): string => JSON.stringify(text.slice(0, 80));

/** A formula that is typed is one that is written. */
function formulas(runs: readonly TypedRun[], on: ScreenPlace | undefined): readonly CommandFinding[] {
  const found = isSpreadsheet(on?.application ?? '') ? typedFormula(runs) : undefined;
  if (found === 'reaches') return [REACHING];
  return found === 'part'
    ? [asks('network', 'formula', 'It types a part of a formula, of which the rest is not known.')]
    : [];
}

function pressing(keys: string, on: ScreenPlace | undefined): readonly CommandFinding[] {
  const { unusual, presses, deletes, hidden, typed } = keysMeaning(keys);
  const { type = '', name = '' } = on?.control ?? {};
  if (unusual !== '')
    return [asks('privileged', 'keys', `It presses ${JSON.stringify(unusual.slice(0, 40))}, which may do anything.`)];
  if (deletes && !TEXTS.has(type)) return [asks('destructive', 'delete', 'It presses Delete outside of a text.')];
  if (presses && isCommitLike(name))
    return [asks('destructive', 'commit', `It presses ${JSON.stringify(name.slice(0, 80))}.`)];
  if (presses && isAddressBar(name)) return [asks('network', 'address', 'It opens a page.')];
  if ((isFileDialog(on?.window ?? '') || on?.runDirectory !== undefined) && (hidden || /[/\\]/u.test(keys)))
    return [asks('privileged', 'path', 'It types a place for a file, or the name of a hidden one.')];
  return [...formulas(typed, on), plain('write', 'keys', 'It types.')];
}

const TEXTS = new Set(['Edit', 'Document', 'ComboBox', 'DataItem', 'Spinner']);

/** A program that is listed, with nothing said to it; its device has a list of its own. */
function launching(
  { name, arguments: more }: CommandCall['arguments'],
  listed: ListedApplications,
): readonly CommandFinding[] {
  const isKnown = typeof name === 'string' && listed.has(programName(name));
  if (!isKnown)
    return [asks('privileged', 'application', 'It starts a program that is not in the list of applications.')];
  const has = Array.isArray(more) && more.length > 0;
  if (has) return [asks('privileged', 'arguments', 'It starts a program with arguments.')];
  return [plain('write', 'launch', 'It starts a program of the list of applications.')];
}

function office(tool: string, given: CommandCall['arguments'], on: ScreenPlace | undefined): readonly CommandFinding[] {
  const does = OFFICE_TOOLS[tool]?.does;
  if (does === 'read') return [plain('read', 'office', `${tool} reads the open document.`)];
  if (does === 'write' && textsIn(given['table']).some(isReachingFormula)) return [REACHING];
  if (does === 'write') return [plain('write', 'office', `${tool} changes the open document.`)];
  const { file_dir: directory = '', file_name: name = '' } = given;
  // The tools of a Linux desktop save only in directories of their device or in that of the run, and never over another file.
  if (
    programName(on?.application ?? '') === CALC &&
    (directory === '' || directory === '.') &&
    !/[/\\]/u.test(textOf(name))
  )
    return [plain('write', 'save', 'It saves the open document where its device gives it a place.')];
  return [asks('privileged', 'path', `${tool} names files by their path.`)];
}

const CALC = programName('soffice.bin');

/** All texts in lists of lists. */
const textsIn = (value: Json | undefined): string[] =>
  Array.isArray(value) ? value.flatMap(textsIn) : typeof value === 'string' ? [value] : [];

const passwords = (on: ScreenPlace | undefined): readonly CommandFinding[] =>
  isPassword(on?.control?.name ?? '')
    ? [floor('screen.password', 'The field is one for a secret: its text is never read, and never written by a model.')]
    : [];

const TERMINAL = floor(
  'screen.terminal',
  'What is typed into a terminal runs: commands go through EXEC_CLI, where they are read.',
);

const isListed = (on: ScreenPlace | undefined, listed: ListedApplications): boolean =>
  on !== undefined && listed.has(programName(on.application));

const unlisted = (on: ScreenPlace | undefined): CommandFinding =>
  asks(
    'privileged',
    'application',
    on === undefined || on.application === ''
      ? 'Nobody knows in which program it acts.'
      : `${JSON.stringify(on.application.slice(0, 80))} is not in the list of applications.`,
  );

const plain = (of: CommandClass, rule: string, reason: string): CommandFinding => ({
  kind: 'program',
  class: of,
  rule: `screen.${rule}`,
  reason,
});

/** A person decides each time: the same call acts on another screen the next time. */
const asks = (of: CommandClass, rule: string, reason: string): CommandFinding => ({
  ...plain(of, rule, reason),
  atLeast: 'approve',
  grantable: false,
});

const REACHING = asks('network', 'formula', 'A formula reaches for what is not in the document.');

const textOf = (value: Json | undefined): string => (typeof value === 'string' ? value : '');
