import { ExecCliResult, type TaskResult } from '#proto';
import { cut, fence, span } from './report-text.js';

/** What a tool answered, in fences; of a command what it printed. Says of what is cut how much there is. */
export function outputParts(result: TaskResult, charsMax: number): string[] {
  const { value } = result;
  const cli = ExecCliResult.safeParse(value).data;
  const text = typeof value === 'string' ? value : JSON.stringify(value, null, 2);
  const parts = cli === undefined ? { result: text } : { stdout: cli.stdout, stderr: cli.stderr };
  const shown = Object.entries(parts).filter(([, said]) => said !== '');
  return [...shown.flatMap(([what, said]) => [`${what}:`, fence(cut(said, charsMax), 'text')]), ...wholeText(result)];
}

/** Of a result that its event holds only head and tail of: how much there is, and where. */
export function wholeText({ artifact }: TaskResult): string[] {
  if (artifact === undefined) return [];
  const { bytes, sha256 } = artifact;
  return [`This is cut: the whole has ${bytes} bytes as JSON. ${wholeCommand(sha256)}`];
}

/** How to get an artifact. */
export function wholeCommand(sha256: string): string {
  return `To get it: ${span(`orrery artifacts get ${sha256} -o FILE`)}`;
}
