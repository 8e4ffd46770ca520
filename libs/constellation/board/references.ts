import { type BoardName, type CommandCall, FromBoard, type Json } from '#proto';

/** Where a command takes a value of the board, and of which name. */
export interface BoardReference {
  /** Within the arguments: `stdin`, or `env.HOST`. */
  readonly path: string;
  readonly name: BoardName;
}

/** The arguments that are texts to whoever takes them: a value that is none is given as JSON. */
const TEXTS: ReadonlySet<string> = new Set(['stdin', 'command', 'cwd']);

/** Every argument, and every variable of `env`, may be a value of the board. */
export function boardReferences({ arguments: given }: CommandCall): BoardReference[] {
  return Object.entries(given).flatMap(([argument, value]) => {
    const own = referenceIn(value);
    if (own !== undefined) return [{ path: argument, name: own }];
    if (argument !== 'env' || typeof value !== 'object' || value === null || Array.isArray(value)) return [];
    return Object.entries(value).flatMap(([variable, inner]) => {
      const name = referenceIn(inner);
      return name === undefined ? [] : [{ path: `env.${variable}`, name }];
    });
  });
}

/** The command with the values in place of their names. Each of them has to be there. */
export function withBoardValues(command: CommandCall, valueOf: (name: BoardName) => Json): CommandCall {
  if (boardReferences(command).length === 0) return command;
  const filled = Object.entries(command.arguments).map(([argument, value]): [string, Json] => {
    const own = referenceIn(value);
    if (own !== undefined) return [argument, TEXTS.has(argument) ? textOf(valueOf(own)) : valueOf(own)];
    if (argument !== 'env' || typeof value !== 'object' || value === null || Array.isArray(value)) {
      return [argument, value];
    }
    const variables = Object.entries(value).map(([variable, inner]): [string, Json] => {
      const name = referenceIn(inner);
      return [variable, name === undefined ? inner : textOf(valueOf(name))];
    });
    return [argument, Object.fromEntries(variables)];
  });
  return { ...command, arguments: Object.fromEntries(filled) };
}

/** The name that an argument takes from the board; undefined of every other argument. */
export function referenceIn(value: Json | undefined): BoardName | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  return FromBoard.safeParse(value).data?.board;
}

const textOf = (value: Json): string => (typeof value === 'string' ? value : JSON.stringify(value));
