import { fieldsOf, type Json } from '#proto';

/** What was answered, as text: of a command its standard output, of an agent its words, of anything else its JSON. */
export function answerText(value: Json, indent?: number): string {
  if (typeof value === 'string') return value;
  const { stdout } = fieldsOf(value);
  return typeof stdout === 'string' ? stdout : JSON.stringify(value, null, indent);
}

/** What a command wrote to its standard error; empty when nothing, or when it was no command. */
export function stderrOf(value: Json): string {
  const { stderr } = fieldsOf(value);
  return typeof stderr === 'string' ? stderr : '';
}
