import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import ts from 'typescript';

/** One file of the repository, its path from the root with forward slashes. */
export interface Source {
  readonly path: string;
  readonly text: string;
}

export interface Import {
  readonly specifier: string;
  /** Gone after compiling: nothing is loaded. */
  readonly typeOnly: boolean;
}

/** A file, and what it loads: enough to see who stands on whom. */
export interface Importing {
  readonly path: string;
  readonly imports: readonly Pick<Import, 'specifier'>[];
}

/** What the rules look at. Empty for files that are not TypeScript or JavaScript. */
export interface Facts extends Source {
  readonly imports: readonly Import[];
  /** Names that the file declares and exports; not those that it passes on. */
  readonly exports: readonly string[];
  /** Names of methods that are called, e.g. `ack` for `message.ack()`. */
  readonly methods: readonly string[];
  /** Clocks, dice, timers, the process: by the name under which they are reached, and `await`. */
  readonly ambient: readonly string[];
  readonly strings: readonly string[];
  readonly hasDefaultExport: boolean;
  readonly hasEnum: boolean;
}

const IGNORED = new Set(['node_modules', 'dist', 'coverage', '.git', '.cache', '.ci']);
const BYTES_MAX = 2 * 1024 * 1024;

/** Every file of the tree that people write. */
export function readTree(root: string, directory = root): Source[] {
  return readdirSync(directory, { withFileTypes: true }).flatMap((entry): Source[] => {
    if (IGNORED.has(entry.name) || entry.name.endsWith('.log')) return [];
    const path = join(directory, entry.name);
    if (entry.isDirectory()) return readTree(root, path);
    if (!entry.isFile()) return [];
    const content = readFileSync(path);
    if (content.length > BYTES_MAX || content.includes(0)) return [];
    return [{ path: relative(root, path).replaceAll('\\', '/'), text: content.toString('utf8') }];
  });
}

/** The compiler's quick look passes over this form. */
const NAMESPACE = /^export \* as \w+ from '(?<specifier>[^']+)'/gmu;

/** What a file imports and nothing else: it is read without being taken apart, which for the whole tree takes seconds. */
export function importsOf({ path, text }: Source): Importing {
  if (!/\.(?:ts|tsx|mjs)$/u.test(path)) return { path, imports: [] };
  const named = [...text.matchAll(NAMESPACE)].map(({ groups }) => ({ specifier: groups?.['specifier'] ?? '' }));
  return {
    path,
    imports: [...ts.preProcessFile(text).importedFiles.map(({ fileName }) => ({ specifier: fileName })), ...named],
  };
}

/** Of files that were looked at, by path: the specs of a worker look at the same tree. */
const known = new Map<string, Facts>();

export function factsOf(source: Source): Facts {
  const before = known.get(source.path);
  if (before?.text === source.text) return before;
  const facts = readFacts(source);
  known.set(source.path, facts);
  return facts;
}

/** What stands in comments is no code: nobody here asks for the tags in them. */
const AS_CODE = { languageVersion: ts.ScriptTarget.Latest, jsDocParsingMode: ts.JSDocParsingMode.ParseNone };

function readFacts(source: Source): Facts {
  const facts = {
    ...source,
    imports: [] as Import[],
    exports: [] as string[],
    methods: [] as string[],
    ambient: [] as string[],
    strings: [] as string[],
    hasDefaultExport: false,
    hasEnum: false,
  };
  if (!/\.(?:ts|tsx|mjs)$/u.test(source.path)) return facts;
  const file = ts.createSourceFile(source.path, source.text, AS_CODE);
  const visit = (node: ts.Node): void => {
    noteModule(node, facts.imports);
    noteAmbient(node, facts.ambient);
    if (ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression)) {
      facts.methods.push(node.expression.name.text);
    }
    if (ts.isStringLiteralLike(node) || ts.isTemplateHead(node)) facts.strings.push(node.text);
    if (ts.isEnumDeclaration(node)) facts.hasEnum = true;
    if (ts.isExportAssignment(node) || isDefault(node)) facts.hasDefaultExport = true;
    ts.forEachChild(node, visit);
  };
  visit(file);
  facts.exports.push(...new Set(file.statements.flatMap(declared)));
  return facts;
}

/** What one statement declares for other files. */
function declared(statement: ts.Statement): string[] {
  const isExported =
    ts.canHaveModifiers(statement) &&
    ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) === true;
  if (!isExported) return [];
  if (ts.isVariableStatement(statement)) {
    return statement.declarationList.declarations.flatMap(({ name }) =>
      ts.isIdentifier(name)
        ? [name.text]
        : name.elements.flatMap((element) => (ts.isBindingElement(element) ? [nameOf(element.name)] : [])),
    );
  }
  return ts.isDeclarationStatement(statement) && statement.name !== undefined ? [nameOf(statement.name)] : [];
}

const nameOf = (name: ts.Node): string => (ts.isIdentifier(name) || ts.isStringLiteral(name) ? name.text : '');

function noteModule(node: ts.Node, imports: Import[]): void {
  if ((ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) && node.moduleSpecifier !== undefined) {
    if (!ts.isStringLiteral(node.moduleSpecifier)) return;
    const typeOnly = ts.isImportDeclaration(node)
      ? node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword || hasOnlyTypes(node.importClause)
      : node.isTypeOnly;
    imports.push({ specifier: node.moduleSpecifier.text, typeOnly });
  }
  if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
    const [argument] = node.arguments;
    if (argument !== undefined && ts.isStringLiteralLike(argument)) {
      imports.push({ specifier: argument.text, typeOnly: false });
    }
  }
}

function hasOnlyTypes(clause: ts.ImportClause | undefined): boolean {
  const bindings = clause?.namedBindings;
  if (clause === undefined || clause.name !== undefined || bindings === undefined) return false;
  return ts.isNamedImports(bindings) && bindings.elements.every(({ isTypeOnly }) => isTypeOnly);
}

const CALLED = new Set(['setTimeout', 'setInterval', 'setImmediate', 'queueMicrotask', 'fetch']);
const REACHED = new Set(['Date.now', 'Math.random', 'performance.now', 'crypto.randomUUID', 'crypto.getRandomValues']);

function noteAmbient(node: ts.Node, ambient: string[]): void {
  if (ts.isAwaitExpression(node) || (ts.isForOfStatement(node) && node.awaitModifier !== undefined)) {
    ambient.push('await');
  }
  if (ts.isCallExpression(node) && ts.isIdentifier(node.expression) && CALLED.has(node.expression.text)) {
    ambient.push(node.expression.text);
  }
  if (ts.isNewExpression(node) && ts.isIdentifier(node.expression)) {
    if (node.expression.text === 'Date' && (node.arguments?.length ?? 0) === 0) ambient.push('new Date()');
  }
  if (ts.isPropertyAccessExpression(node) && ts.isIdentifier(node.expression)) {
    const reached = `${node.expression.text}.${node.name.text}`;
    if (REACHED.has(reached) || node.expression.text === 'process') ambient.push(reached);
  }
}

function isDefault(node: ts.Node): boolean {
  if (!ts.canHaveModifiers(node)) return false;
  return ts.getModifiers(node)?.some(({ kind }) => kind === ts.SyntaxKind.DefaultKeyword) ?? false;
}

/** All comments of a file. That takes as long as a third of taking the file apart: only who has a reason asks. */
export function commentsOf({ text }: Pick<Source, 'text'>): string[] {
  const comments: string[] = [];
  const scanner = ts.createScanner(ts.ScriptTarget.Latest, false, ts.LanguageVariant.Standard, text);
  for (let kind = scanner.scan(); kind !== ts.SyntaxKind.EndOfFileToken; kind = scanner.scan()) {
    if (kind === ts.SyntaxKind.SingleLineCommentTrivia || kind === ts.SyntaxKind.MultiLineCommentTrivia) {
      comments.push(scanner.getTokenText());
    }
  }
  return comments;
}
