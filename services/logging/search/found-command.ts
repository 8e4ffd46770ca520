import type { FoundCommand } from '#proto';
import type { CommandRow, SearchRow } from '../entities/index.js';
import { foundIn } from './found-text.js';
import { whereOf } from './search-rows.js';
import type { Alternative } from './search-words.js';
import { callPrinted, searchedTexts, type SearchedText } from './texts.js';

/** The line is recognised by its beginning. */
const LINE_UNITS_MAX = 400;

/**
 * What is told of a row that the index found. Undefined when it is not what was looked for, which only its texts show, and of a command
 * that the other projection has not come to. `alternatives` are undefined when nothing was looked for in texts, `kept` is what was looked at beside
 * the log.
 */
export function foundCommand(
  row: SearchRow,
  command: CommandRow | undefined,
  alternatives: readonly Alternative[] | undefined,
  kept: readonly SearchedText[] = [],
): FoundCommand | undefined {
  const { commandId, device, by, at, state, exitCode, rule, decision, cut } = row;
  const printed = command ?? (row.call === null ? undefined : callPrinted(row.call));
  const where = whereOf(commandId);
  if (printed === undefined || where === undefined) return undefined;
  const { texts } = searchedTexts(printed);
  const found = alternatives === undefined ? null : foundIn([...texts, ...kept], alternatives);
  if (found === undefined) return undefined;
  const line = texts.find(({ of }) => of === 'command')?.text.slice(0, LINE_UNITS_MAX) ?? '';
  const tool = command?.tool ?? row.call?.tool ?? '';
  const facts = { device, by, at, state, exitCode, rule, decision, cut };
  return { commandId, ...where, tool, line: line.toWellFormed(), ...facts, found };
}
