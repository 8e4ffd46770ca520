import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { compileFunction } from 'node:vm';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { transformSync } from 'esbuild';

interface Mime {
  lookup(name: string): string | false;
  extension(type: string): string | false;
  readonly types: Readonly<Record<string, string>>;
  readonly extensions: Readonly<Record<string, readonly string[]>>;
}
interface Tool {
  quicker(path: string, text: string): string;
  withQuickerHelpers(path: string, text: string): string;
}

let tool: Tool;
beforeAll(async () => {
  tool = (await import(pathToFileURL(resolve(import.meta.dirname, '../../tools/quicker.mjs')).href)) as Tool;
});
/** What a text of CommonJS exports. */
function run(text: string, require: (name: string) => unknown): unknown {
  const module = { exports: {} };
  const body = compileFunction(text, ['module', 'exports', 'require']) as (...given: unknown[]) => void;
  body(module, module.exports, require);
  return module.exports;
}

describe('types of media, which are looked up when somebody asks', () => {
  const require = createRequire(import.meta.url);
  const path = require.resolve('mime-types');
  const made = (): Mime => run(tool.quicker(path, readFileSync(path, 'utf8')), createRequire(path)) as Mime;

  it('are those of the package', () => {
    const known = require('mime-types') as Mime;
    expect({ ...made().types }).toEqual({ ...known.types });
    expect({ ...made().extensions }).toEqual({ ...known.extensions });
    expect([made().lookup('a.json'), made().extension('text/html')]).toEqual(['application/json', 'html']);
  });

  it('are not read before', () => {
    const asked: string[] = [];
    const noted = (name: string): unknown => {
      asked.push(name);
      return createRequire(path)(name);
    };
    const mime = run(tool.quicker(path, readFileSync(path, 'utf8')), noted) as Mime;
    expect(asked).not.toContain('mime-db');
    mime.lookup('a.json');
    expect(asked).toContain('mime-db');
  });
});

it('a package that is written in another way than is known is told to who builds', () => {
  expect(() => tool.quicker('/node_modules/mime-types/index.js', 'populate()')).toThrow('another way');
  expect(() => tool.withQuickerHelpers('main.cjs', 'var a=__toESM(b)')).toThrow('another way');
});

describe('a program', () => {
  const asWritten = (text: string): string =>
    tool.withQuickerHelpers(
      'main.cjs',
      transformSync(text, { format: 'cjs', keepNames: true, minifyWhitespace: true, minifySyntax: true }).code,
    );

  it('gives its name back to what was renamed', () => {
    const text = `const short = () => 0; const long = () => 0; export const names = [short.name, long.name];`;
    const renamed = asWritten(text)
      .replaceAll(/\blong=/gu, 'long2=')
      .replaceAll('long.name', 'long2.name');
    expect(renamed).toContain('long2');
    expect(run(renamed, createRequire(import.meta.url))).toMatchObject({ names: ['short', 'long'] });
  });

  it('has one copy of the names of a module, for modules of each kind', () => {
    const text = asWritten(`import * as one from 'a'; import * as other from 'a'; import none from 'b';
export const found = [one === other, one.sum, one.default.sum, none];`);
    const modules = new Map([['a', { sum: 2 }]]);
    expect(run(text, (name) => modules.get(name))).toMatchObject({
      found: [true, 2, 2, undefined],
    });
  });
});
