// Lets `node --import` run the TypeScript sources of this repository as a process of their own, compiled in memory.
import { existsSync, readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { transformSync } from '@swc/core';

const root = new URL('../../', import.meta.url);
const options = JSON.parse(readFileSync(new URL('.swcrc', root), 'utf8'));

registerHooks({
  resolve(specifier, context, next) {
    if (specifier === '#proto') return next(new URL('proto/index.ts', root).href, context);
    const [, lib] = /^#libs\/(.+)$/u.exec(specifier) ?? [];
    if (lib !== undefined) return next(new URL(`libs/${lib}/index.ts`, root).href, context);
    const ours = specifier.startsWith('.') && context.parentURL?.endsWith('.ts');
    const source = ours ? new URL(specifier.replace(/\.js$/u, '.ts'), context.parentURL) : undefined;
    return next(source !== undefined && existsSync(source) ? source.href : specifier, context);
  },
  load(url, context, next) {
    if (!url.startsWith(root.href) || !url.endsWith('.ts')) return next(url, context);
    const filename = fileURLToPath(url);
    const { code } = transformSync(readFileSync(filename, 'utf8'), {
      ...options,
      filename,
      sourceMaps: 'inline',
      swcrc: false,
    });
    return { format: 'module', source: code, shortCircuit: true, responseURL: pathToFileURL(filename).href };
  },
});
