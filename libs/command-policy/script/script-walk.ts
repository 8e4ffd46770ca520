import {
  dynamic,
  type CommandFinding,
  type VariableAssignment,
  type StandardInput,
  type Invocation,
  type Redirect,
  DIGITS,
  type Glyphs,
  addPlaces,
  ANYWHERE,
  assignVariable,
  forkScope,
  join,
  type Names,
  type Scope,
  literal,
  unknownWord,
  type Word,
} from '../words/index.js';
import { applyBuiltin } from './builtin-effects.js';
import { inputOf, product } from './readings.js';
import { calculationFindings, isNumeric, testCalculations } from './calculated.js';
import { resolveWord, UnknownSyntax } from './resolve-word.js';
import { nodeText, type SyntaxNode } from './syntax.js';
import { testFindings } from './test-command.js';

const INVOCATIONS_MAX = 300;
const WORDS_MAX = 500;

/** Commands that come with redirections and words that stand behind them. */
interface Around {
  readonly redirects: readonly Redirect[];
  readonly words: readonly (readonly (readonly Word[])[])[];
  readonly input: StandardInput | undefined;
}
const NOTHING: Around = { redirects: [], words: [], input: undefined };

/** Follows a script as a shell would, on every way at once, and collects what it would start. */
export class ScriptWalk {
  readonly invocations: Invocation[] = [];
  readonly findings: CommandFinding[] = [];

  readonly #source: string;
  readonly #names: Names;

  constructor(source: string, names: Names) {
    this.#source = source;
    this.#names = names;
  }

  /** A list of statements; what ends with `&` cannot change what is known. */
  statements(node: SyntaxNode, scope: Scope): void {
    node.children.forEach((child, at) => {
      if (!child.named || child.type === 'comment') return;
      this.#statement(child, node.children[at + 1]?.type === '&' ? forkScope(scope) : scope);
    });
  }

  #statement(node: SyntaxNode, scope: Scope): void {
    switch (node.type) {
      case 'command':
        return this.#command(node, scope, NOTHING);
      case 'redirected_statement':
        return this.#redirected(node, scope);
      case 'pipeline':
        return this.#pipeline(node, scope, this.invocations.length);
      case 'list':
        return this.#list(node, scope);
      case 'subshell':
        return this.statements(node, forkScope(scope));
      case 'negated_command':
        return this.statements(node, scope);
      case 'compound_statement':
        return this.#compound(node, scope);
      case 'variable_assignment':
        return this.#assignments([node], scope, false);
      case 'variable_assignments':
        return this.#assignments(node.children, scope, false);
      case 'declaration_command':
        return this.#declaration(node, scope);
      case 'unset_command':
        return this.#unset(node, scope);
      case 'test_command':
        return this.#test(node, scope);
      case 'function_definition':
        return this.#functionBody(node, scope);
      default:
        return this.#control(node, scope);
    }
  }

  #control(node: SyntaxNode, scope: Scope): void {
    switch (node.type) {
      case 'if_statement':
      case 'elif_clause':
      case 'else_clause':
        return this.#perhaps(scope, (inner) => this.statements(node, inner));
      case 'while_statement':
        return this.#loop(node, scope);
      case 'do_group':
        return this.statements(node, scope);
      case 'for_statement':
        return this.#forEach(node, scope);
      case 'c_style_for_statement':
        this.findings.push(dynamic('shells-differ', 'sh does not know this loop, bash calculates in it.'));
        return this.#repeated(node, scope, (inner) => {
          for (const child of node.children)
            if (child.field === 'body') this.#statement(child, inner);
            else this.#substitutions(child, inner);
        });
      case 'case_statement':
        return this.#choice(node, scope);
      default:
        throw new UnknownSyntax(node.type);
    }
  }

  #loop(node: SyntaxNode, scope: Scope): void {
    const condition = node.children.find(({ field }) => field === 'condition');
    if (
      condition !== undefined &&
      /^\s*(?:true|:|false|\[ 1 \]|sleep\b.*)\s*$/u.test(nodeText(this.#source, condition))
    )
      this.findings.push(dynamic('endless', 'The loop has no end.'));
    this.#repeated(node, scope, (inner) => this.statements(node, inner));
  }

  #perhaps(scope: Scope, follow: (inner: Scope) => void): void {
    const inner = forkScope(scope);
    follow(inner);
    join(scope, inner);
  }

  /** What the body sets can be set when it begins again. */
  #repeated(node: SyntaxNode, scope: Scope, follow: (inner: Scope) => void): void {
    const numbers = this.#countersIn(node);
    for (const name of this.#setIn(node)) {
      const before = scope.variables.get(name);
      const counts = numbers.has(name) && (before === undefined || isNumeric(before));
      this.#set(scope, name, counts ? [...(before ?? []), [DIGITS]] : undefined);
    }
    this.#perhaps(scope, follow);
  }

  #setIn(node: SyntaxNode): string[] {
    const own = node.type === 'variable_name' && node.field === 'name' ? [nodeText(this.#source, node)] : [];
    const words =
      node.type === 'command' ? node.children.map((word) => nodeText(this.#source, word).replace(/["'\\]/gu, '')) : [];
    return [...own, ...words, ...node.children.flatMap((child) => this.#setIn(child))];
  }

  /** Variables that a loop sets to numbers and to nothing else. */
  #countersIn(node: SyntaxNode): ReadonlySet<string> {
    const counters = new Set<string>();
    const others = new Set<string>();
    const visit = (part: SyntaxNode): void => {
      if (part.type === 'variable_assignment') {
        const [name, , value] = part.children;
        if (name?.type === 'variable_name')
          (value?.type === 'arithmetic_expansion' || value?.type === 'number' ? counters : others).add(
            nodeText(this.#source, name),
          );
      } else if (part.type === 'command' || part.type === 'for_statement' || part.type === 'declaration_command')
        for (const child of part.children) others.add(nodeText(this.#source, child).replace(/["'\\]/gu, ''));
      part.children.forEach(visit);
    };
    visit(node);
    return new Set([...counters].filter((name) => !others.has(name)));
  }

  #list(node: SyntaxNode, scope: Scope): void {
    const [left, ...right] = node.children.filter(({ named, type }) => named && type !== 'comment');
    if (left !== undefined) this.#statement(left, scope);
    for (const child of right) this.#perhaps(scope, (inner) => this.#statement(child, inner));
  }

  #pipeline(node: SyntaxNode, scope: Scope, from: number): void {
    for (const child of node.children) {
      if (!child.named || child.type === 'comment') continue;
      const upstream = this.invocations.slice(from);
      const input: StandardInput = upstream.length === 0 ? scope.input : { kind: 'pipe', upstream };
      const inner: Scope = { ...scope, input };
      this.#statement(child, inner);
      // Of `cd a && b < f | c` the grammar makes a pipeline that begins with a list; to a shell `cd` stands outside of it.
      join(scope, inner);
    }
  }

  #compound(node: SyntaxNode, scope: Scope): void {
    if (node.children[0]?.type !== '((') return this.statements(node, scope);
    this.findings.push(dynamic('shells-differ', 'sh runs what stands in (( )), bash calculates it.'));
    this.#substitutions(node, scope);
    for (const name of this.#setIn(node)) assignVariable(scope, name, undefined);
  }

  #forEach(node: SyntaxNode, scope: Scope): void {
    const name = node.children.find(({ field }) => field === 'variable');
    const body = node.children.find(({ field }) => field === 'body');
    const lists = node.children.filter(({ field }) => field === 'value').map((value) => this.#resolved(value, scope));
    for (const value of node.children) if (value.field === 'value') this.#substitutionsOf(value, scope);
    const values = lists.flat(2);
    const known = values.length > 0 && values.every((word) => !word.dynamic && word.substitution === undefined);
    this.#repeated(node, scope, (inner) => {
      if (name !== undefined)
        this.#set(inner, nodeText(this.#source, name), known ? values.map(({ glyphs }) => glyphs) : undefined);
      if (body !== undefined) this.#statement(body, inner);
    });
  }

  #choice(node: SyntaxNode, scope: Scope): void {
    for (const child of node.children) {
      if (child.type !== 'case_item') this.#substitutionsOf(child, scope);
      else
        this.#perhaps(scope, (inner) => {
          for (const part of child.children) if (part.field === 'value') this.#substitutionsOf(part, inner);
          this.statements({ ...child, children: child.children.filter(({ field }) => field !== 'value') }, inner);
        });
    }
  }

  #functionBody(node: SyntaxNode, scope: Scope): void {
    const body = node.children.find(({ field }) => field === 'body');
    const inner: Scope = { ...scope, variables: new Map(), places: [...scope.places, ANYWHERE] };
    if (body !== undefined) this.#statement(body, inner);
    // Where it goes, those that call it go.
    if (/(?:^|[\s;&|({])(?:cd|pushd|popd)\b/u.test(nodeText(this.#source, node))) addPlaces(scope, [ANYWHERE]);
    for (const redirect of node.children.filter(({ field }) => field === 'redirect'))
      this.#emit(
        [[]],
        { ...NOTHING, redirects: this.#redirects(redirect, inner) },
        { node, scope: inner, assignments: [] },
      );
  }

  #test(node: SyntaxNode, scope: Scope): void {
    this.findings.push(...testFindings(this.#source, node), ...testCalculations(this.#source, node, scope.variables));
    this.#substitutions(node, scope);
    for (const child of node.children) if (child.type === 'redirected_statement') throw new UnknownSyntax(child.type);
  }

  #declaration(node: SyntaxNode, scope: Scope): void {
    const [keyword, ...rest] = node.children;
    const name = keyword === undefined ? 'export' : nodeText(this.#source, keyword);
    const exported = name === 'export' || rest.some((word) => /^-\w*x/u.test(nodeText(this.#source, word)));
    const flags = rest.filter(({ type }) => type !== 'variable_assignment' && type !== 'variable_name');
    this.#assignments(
      rest.filter(({ type }) => type === 'variable_assignment'),
      scope,
      exported,
    );
    // sh splits what bash takes as one value.
    if (rest.some((part) => part.type === 'variable_assignment' && part.children.some(isSplit)))
      this.findings.push(dynamic('shells-differ', `sh and bash read this ${name} differently.`));
    if (flags.length > 0) for (const set of this.#setIn(node)) assignVariable(scope, set, undefined);
    const words = flags.map((flag) => this.#resolved(flag, scope));
    const named = rest
      .filter(({ type }) => type === 'variable_name')
      .map((child): VariableAssignment => ({ name: nodeText(this.#source, child), value: undefined, exported }));
    this.#emit(product([[[literal(name)]], ...words]), NOTHING, { node, scope, assignments: named });
  }

  #unset(node: SyntaxNode, scope: Scope): void {
    for (const child of node.children) if (child.named) assignVariable(scope, nodeText(this.#source, child), undefined);
    const words = node.children.map((child) => (child.named ? this.#resolved(child, scope) : [[literal(child.type)]]));
    this.#emit(product(words), NOTHING, { node, scope, assignments: [] });
  }

  #assignments(nodes: readonly SyntaxNode[], scope: Scope, exported: boolean): void {
    const assignments = nodes
      .filter(({ type }) => type === 'variable_assignment')
      .map((node) => this.#assignment(node, scope, exported));
    for (const { name, value } of assignments) {
      const known = value !== undefined && !value.dynamic && value.substitution === undefined && !value.home;
      this.#set(scope, name, known ? [value.glyphs] : undefined);
    }
    const [first] = nodes;
    if (first !== undefined) this.#emit([[]], NOTHING, { node: first, scope, assignments });
  }

  #assignment(node: SyntaxNode, scope: Scope, exported: boolean): VariableAssignment {
    const target = node.children.find(({ field }) => field === 'name');
    const value = node.children.find(({ field }) => field === 'value');
    const name = target === undefined ? '' : nodeText(this.#source, target).replace(/\[.*$/su, '');
    const isPlain = target?.type === 'variable_name' && node.children.some(({ type }) => type === '=');
    this.#substitutions(node, scope);
    if (value === undefined) return { name, value: isPlain ? literal('') : unknownWord(), exported };
    if (value.type === 'array' || !isPlain) return { name, value: unknownWord(), exported };
    const readings = this.#resolved(value, scope);
    const [only] = readings;
    // An assignment is not split: several words would be one text here.
    return { name, value: readings.length === 1 && only?.length === 1 ? only[0] : unknownWord(), exported };
  }

  #set(scope: Scope, name: string, values: readonly Glyphs[] | undefined): void {
    assignVariable(scope, name, this.#names.unsettled.has(name) ? undefined : values);
  }

  #redirected(node: SyntaxNode, scope: Scope): void {
    const around = {
      redirects: [] as Redirect[],
      words: [] as Around['words'][number][],
      input: undefined as StandardInput | undefined,
    };
    const later: SyntaxNode[] = [];
    for (const child of node.children) {
      if (child.field === 'body' || child.type === 'comment') continue;
      if (child.type === 'heredoc_redirect') this.#heredoc(child, scope, { around, later });
      else around.redirects.push(...this.#redirects(child, scope, around.words));
      if (child.type === 'herestring_redirect') around.input = this.#herestring(child, scope);
    }
    const from = this.invocations.length;
    const body = node.children.find(({ field }) => field === 'body');
    if (body?.type === 'command') this.#command(body, scope, around);
    else {
      // Words behind a redirection belong to the last command of the body, wherever that is.
      if (around.words.length > 0 && body !== undefined) throw new UnknownSyntax('words behind a redirection');
      const { input } = scope;
      if (body !== undefined) {
        scope.input = around.input ?? inputOf(around.redirects) ?? input;
        this.#statement(body, scope);
        scope.input = input;
      }
      // The grammar gives a redirection of the last command to all of them: where that one stands it counts.
      if (body === undefined || around.redirects.length > 0)
        this.#emit(product(around.words), around, { node, scope, assignments: [] });
    }
    for (const child of later) {
      if (child.type === 'pipeline') this.#pipeline(child, scope, from);
      else this.#perhaps(scope, (inner) => this.#statement(child, inner));
    }
  }

  #heredoc(
    node: SyntaxNode,
    scope: Scope,
    to: {
      around: { redirects: Redirect[]; words: Around['words'][number][]; input: StandardInput | undefined };
      later: SyntaxNode[];
    },
  ): void {
    for (const child of node.children) {
      if (child.field === 'argument') to.around.words.push(this.#resolved(child, scope));
      else if (child.type === 'pipeline' || child.field === 'right') to.later.push(child);
      else if (child.type === 'file_redirect' || child.type === 'herestring_redirect')
        to.around.redirects.push(...this.#redirects(child, scope, to.around.words));
      else if (child.type === 'heredoc_body') {
        this.#substitutions(child, scope);
        const isKnown = child.children.every(({ type }) => type === 'heredoc_content');
        to.around.input = isKnown ? { kind: 'text', text: nodeText(this.#source, child) } : { kind: 'unknown' };
      }
    }
  }

  #herestring(node: SyntaxNode, scope: Scope): StandardInput {
    const word = node.children.findLast(({ named }) => named);
    const [first, ...more] = word === undefined ? [] : this.#resolved(word, scope);
    const text = more.length === 0 && first?.length === 1 ? first[0]?.text : undefined;
    return text === undefined ? { kind: 'unknown' } : { kind: 'text', text };
  }

  /** Words behind the target of a redirection belong to the command: `rm > log -rf x`. */
  #redirects(node: SyntaxNode, scope: Scope, words: Around['words'][number][] = []): Redirect[] {
    this.#substitutions(node, scope);
    if (node.type === 'herestring_redirect') return [];
    if (node.type !== 'file_redirect') throw new UnknownSyntax(node.type);
    const operator = node.children.find(({ named }) => !named)?.type ?? '>';
    const [target, ...more] = this.#grouped(node.children.filter(({ field }) => field === 'destination'));
    words.push(...more.map((word) => this.#resolved(word, scope)));
    // To sh the `&` ends the command, and what stands behind the file is the next one.
    if (more.length > 0 && operator.startsWith('&')) throw new UnknownSyntax('words behind &>');
    const descriptor = node.children.find(({ type }) => type === 'file_descriptor');
    // To sh a number of two digits is a word.
    if (descriptor !== undefined && descriptor.end - descriptor.start > 1)
      throw new UnknownSyntax('a large descriptor');
    if (target === undefined) return [];
    return this.#resolved(target, scope)
      .flat()
      .map((word) => ({ operator, target: word }));
  }

  #command(node: SyntaxNode, scope: Scope, around: Around): void {
    this.#substitutions(node, scope);
    const assignments: VariableAssignment[] = [];
    const redirects = [...around.redirects];
    let input = around.input;
    const parts: SyntaxNode[] = [];
    const behind: Around['words'][number][] = [];
    for (const child of node.children) {
      if (child.type === 'variable_assignment') assignments.push(this.#assignment(child, scope, true));
      else if (child.type === 'file_redirect') redirects.push(...this.#redirects(child, scope, behind));
      else if (child.type === 'herestring_redirect') input = this.#herestring(child, scope);
      else if (child.type === 'subshell') throw new UnknownSyntax(child.type);
      else if (child.type === 'command_name') parts.push(...child.children);
      else if (child.type !== 'comment') parts.push(child);
    }
    const words = this.#grouped(parts).map((part) => this.#resolved(part, scope));
    const all = product([...words, ...behind, ...around.words]);
    this.#emit(all, { redirects, words: [], input }, { node, scope, assignments });
    for (const reading of all) applyBuiltin(reading, scope);
  }

  /** Parts without a blank between them are one word. */
  #grouped(parts: readonly SyntaxNode[]): SyntaxNode[] {
    const groups: SyntaxNode[][] = [];
    for (const part of parts) {
      const last = groups.at(-1);
      if (last !== undefined && last.at(-1)?.end === part.start) last.push(part);
      else groups.push([part]);
    }
    return groups.map((group) => {
      const [first, second] = group;
      if (first === undefined || group.length === 1)
        return first ?? { type: 'word', named: true, field: null, start: 0, end: 0, children: [] };
      const children = first.type === '$' && second?.type === 'string' ? group.slice(1) : group;
      return {
        type: 'concatenation',
        named: true,
        field: first.field,
        start: first.start,
        end: group.at(-1)?.end ?? first.end,
        children,
      };
    });
  }

  #resolved(node: SyntaxNode, scope: Scope): readonly (readonly Word[])[] {
    if (!node.named && node.type !== '$') return [[literal(node.type)]];
    if (node.type === 'regex' || node.type === 'extglob_pattern') return [[unknownWord()]];
    return resolveWord(this.#source, node, scope.variables);
  }

  #substitutionsOf(node: SyntaxNode, scope: Scope): void {
    this.#substitutions({ ...node, type: 'word', children: [node] }, scope);
  }

  /** Commands that run to make up a word. */
  #substitutions(node: SyntaxNode, scope: Scope): void {
    this.findings.push(...calculationFindings(this.#source, node, scope.variables));
    for (const child of node.children) {
      if (child.type !== 'command_substitution' && child.type !== 'process_substitution') {
        this.#substitutions(child, scope);
        continue;
      }
      const redirect = child.children.find(({ field }) => field === 'redirect');
      const inner: Scope = { ...scope, input: { kind: 'none' } };
      if (redirect !== undefined)
        this.#emit(
          [[]],
          { ...NOTHING, redirects: this.#redirects(redirect, inner) },
          { node: child, scope: inner, assignments: [] },
        );
      else this.statements(child, inner);
    }
  }

  #emit(
    readings: readonly (readonly Word[])[],
    around: Around,
    of: { node: SyntaxNode; scope: Scope; assignments: readonly VariableAssignment[] },
  ): void {
    for (const words of readings) {
      if (this.invocations.length >= INVOCATIONS_MAX) throw new UnknownSyntax('too many commands');
      if (words.length > WORDS_MAX) throw new UnknownSyntax('too many words');
      this.invocations.push({
        words,
        assignments: of.assignments,
        redirects: around.redirects,
        input: around.input ?? inputOf(around.redirects) ?? of.scope.input,
        places: of.scope.places,
        functions: this.#names.functions,
        text: nodeText(this.#source, of.node).slice(0, 300),
      });
    }
  }
}

const EXPANSIONS = new Set(['simple_expansion', 'expansion', 'command_substitution']);
const isSplit = (node: SyntaxNode): boolean =>
  node.field === 'value' &&
  (EXPANSIONS.has(node.type) ||
    (node.type === 'concatenation' && node.children.some(({ type }) => EXPANSIONS.has(type))));
