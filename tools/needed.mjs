// What crosses a wire is described by schemas that do nothing but describe: a program makes those that it reads something by, and no others.

/** A module of `proto/` whose constants are made where they are used, and `parse` is what reads modules. */
export function needed(code, parse) {
  let changed = code;
  for (const { start, end } of calculated(parse(code)).toReversed())
    changed = `${changed.slice(0, start)}/*#__PURE__*/ (() => (${changed.slice(start, end)}))()${changed.slice(end)}`;
  return changed;
}

/** Where a module calculates its constants, in their order. */
function calculated({ body }) {
  return body
    .map((statement) => (statement.type === 'ExportNamedDeclaration' ? statement.declaration : statement))
    .filter((statement) => statement?.type === 'VariableDeclaration' && statement.kind === 'const')
    .flatMap(({ declarations }) => declarations.map(({ init }) => init))
    .filter(({ type }) => type.endsWith('Expression') && !type.endsWith('FunctionExpression'));
}
