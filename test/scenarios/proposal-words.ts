import type { Edit, Proposal, TaskChange } from '#proto';
import { constellationOf, lineOf, taskOf, words } from './plan-words.js';

/**
 * `propose e1: add X@web-1; line A->X; update B target=web-2; remove C; cut A-B; FINISH`, `propose e1 try=2 base=1: ...`,
 * `propose e1: build A@web-1 B@web-1 | A->B`, `edit: add X@web-1` for one that nobody asked for.
 */
export function proposalOf(text: string): Proposal {
  const at = text.includes(': ') ? text.indexOf(': ') : text.length;
  const [, ...head] = words(text.slice(0, at).replace(/:$/u, ''));
  const parts = text
    .slice(at + 2)
    .split(';')
    .map((part) => part.trim())
    .filter((part) => part !== '');
  const option = (name: string) => head.find((word) => word.startsWith(`${name}=`))?.split('=')[1];
  const state = parts.find((part) => part === 'FINISH' || part === 'FAIL');
  const base = option('base');
  return {
    editId: head.find((word) => !word.includes('=')) ?? null,
    try: Number(option('try') ?? 1),
    baseRevision: base === undefined ? null : Number(base),
    state: state ?? 'CONTINUE',
    edits: parts.filter((part) => part !== state).map(editOf),
  };
}

function editOf(text: string): Edit {
  const [verb = '', subject = '', ...rest] = words(text);
  switch (verb) {
    case 'add':
      return { tool: 'add_task', task: taskOf(subject) };
    case 'remove':
      return { tool: 'remove_task', taskId: subject };
    case 'update':
      return { tool: 'update_task', taskId: subject, change: changeOf(rest) };
    case 'line':
      return { tool: 'add_dependency', line: lineOf(text.slice('line '.length)) };
    case 'cut':
      return { tool: 'remove_dependency', lineId: subject };
    case 'build':
      return {
        tool: 'build_constellation',
        constellation: constellationOf(text.slice('build '.length).replace('|', ';')),
        clear: true,
      };
    default:
      throw new Error(`a proposal has no edit "${verb}"`);
  }
}

function changeOf(options: readonly string[]): TaskChange {
  const given = Object.fromEntries(options.map((option) => option.split('=') as [string, string]));
  return {
    ...(given['target'] === undefined ? {} : { target: { device: given['target'] } }),
    ...(given['replaces'] === undefined ? {} : { replaces: given['replaces'].split('+') }),
    ...(given['verify'] === undefined ? {} : { verify: { condition: `result.exit_code == ${given['verify']}` } }),
    ...(given['description'] === undefined ? {} : { description: given['description'] }),
  };
}
