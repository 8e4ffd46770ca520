/** A story in a file: commands above a line of dashes, what is recorded below it, block after block. `#` begins a comment. */
export interface Block {
  /** Comments before the commands, as they are, with the empty lines between them. */
  readonly head: readonly string[];
  readonly commands: readonly string[];
  readonly expected: readonly string[];
}

const DASHES = '----';

export function parseTranscript(text: string): Block[] {
  const blocks: Block[] = [];
  let head: string[] = [];
  for (const paragraph of text.trimEnd().split('\n\n')) {
    const lines = paragraph.split('\n');
    const dashes = lines.indexOf(DASHES);
    const before = dashes === -1 ? lines : lines.slice(0, dashes);
    const commands = before.filter((line) => !line.startsWith('#'));
    head.push(...before.filter((line) => line.startsWith('#')));
    if (commands.length === 0) {
      head.push('');
      continue;
    }
    blocks.push({ head, commands, expected: dashes === -1 ? [] : lines.slice(dashes + 1) });
    head = [];
  }
  return blocks;
}

/** The same story with what was recorded now. */
export function writeTranscript(blocks: readonly Block[], recorded: readonly (readonly string[])[]): string {
  const parts = blocks.map(({ head, commands }, index) =>
    [...head, ...commands, DASHES, ...(recorded[index] ?? [])].join('\n'),
  );
  return `${parts.join('\n\n')}\n`;
}
