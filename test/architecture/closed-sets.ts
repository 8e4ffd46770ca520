import ts from 'typescript';

/**
 * What the compiler finds wrong with one file when a type that it imports has these members and no others. Of everything else that the
 * file imports nothing is known, so that only what is said of the whole of that set can be wrong.
 */
export function complaintsAbout(text: string, set: string, members: readonly string[]): string[] {
  const file = ts.createSourceFile('table.ts', text, ts.ScriptTarget.ESNext, true);
  const imported = file.statements.filter(ts.isImportDeclaration);
  const names = imported.flatMap(({ importClause }) => {
    const bindings = importClause?.namedBindings;
    return bindings !== undefined && ts.isNamedImports(bindings) ? bindings.elements.map(({ name }) => name.text) : [];
  });
  const rest = imported.reduceRight((left, { pos, end }) => left.slice(0, pos) + left.slice(end), text);
  const stubs = names.map((name) =>
    name === set
      ? `type ${name} = ${members.map((member) => JSON.stringify(member)).join(' | ')};`
      : `declare const ${name}: any; type ${name}<A = any, B = any> = any;`,
  );
  return diagnosticsOf(`export {};\n${stubs.join('\n')}\n${rest}`);
}

const TABLE = '/table.ts';
/** What every program knows without being told: `Record`, `Readonly` and their like. */
const LIBRARY = ts.getDefaultLibFilePath({}).replace(/lib\.[\w.]+$/u, 'lib.es5.d.ts');
const library = ts.createSourceFile(LIBRARY, ts.sys.readFile(LIBRARY) ?? '', ts.ScriptTarget.ESNext);

function diagnosticsOf(text: string): string[] {
  const options = {
    strict: true,
    noEmit: true,
    noResolve: true,
    noLib: true,
    types: [],
    target: ts.ScriptTarget.ESNext,
  };
  const host = ts.createCompilerHost(options);
  const files = new Map([
    [TABLE, ts.createSourceFile(TABLE, text, ts.ScriptTarget.ESNext)],
    [LIBRARY, library],
  ]);
  host.getSourceFile = (name) => files.get(name);
  host.fileExists = (name) => files.has(name);
  const program = ts.createProgram([...files.keys()], options, host);
  return program
    .getSemanticDiagnostics(program.getSourceFile(TABLE))
    .filter(({ code }) => INCOMPLETE.has(code))
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'));
}

/** "Type ... does not satisfy the expected type", "Property ... is missing", "Object literal may only specify known properties". */
const INCOMPLETE = new Set([1360, 2741, 2739, 2353, 2561]);
