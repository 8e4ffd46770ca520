import type { Json } from '#proto';

/** Named texts under one header: `<header:>`, then `[separator n:]` before each, each followed by an empty line. */
export function retrievedDocumentsPrompt(header: string, separator: string, documents: readonly string[]): string {
  const head = header === '' ? '' : `\n<${header}:>\n`;
  const body = documents.map((document, index) => {
    const title = separator === '' ? '' : `[${separator} ${index + 1}:]\n`;
    return `${title}${document}\n\n`;
  });
  return head + body.join('');
}

/** One request with the reply that it should have. `seen`: what earlier steps have shown. `wrong`: why the reply should not be given. */
export interface PromptExample {
  readonly request: string;
  readonly seen?: string | undefined;
  readonly response: Json;
  readonly wrong?: string | undefined;
}

/** Examples as a model is shown them; more of them may be given as text. */
export function examplesPrompt(
  examples: readonly PromptExample[],
  { header = '## Response Examples', separator = 'Example', more = [] }: ExamplesOptions = {},
): string {
  const shown = examples.map(({ request, seen, response, wrong }) => {
    const before = seen === undefined ? '' : `[Steps so far]:\n${indented(seen)}\n`;
    const reply = indented(JSON.stringify(response));
    const after =
      wrong === undefined ? `[Response]:\n${reply}` : `[Wrong Response]:\n${reply}\n[Why]:\n${indented(wrong)}`;
    return `[User Request]:\n${indented(request)}\n${before}${after}`;
  });
  return retrievedDocumentsPrompt(header, separator, [...shown, ...more]);
}

export interface ExamplesOptions {
  readonly header?: string;
  readonly separator?: string;
  readonly more?: readonly string[];
}

const indented = (text: string): string =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => `    ${line}`)
    .join('\n');
