import type { FactoryProvider, InjectionToken } from '@nestjs/common';

declare const PROVIDED: unique symbol;

/** Name of a part that is no class, with the type of what is provided under it. */
export type Token<T> = symbol & { readonly [PROVIDED]: T };

export function token<T>(name: string): Token<T> {
  return Symbol(name) as Token<T>;
}

/** By what a part is asked for: its class, or a token. */
type Provided<T = unknown> = Token<T> | { readonly prototype: T };

type PartsOf<D extends readonly Provided[]> = {
  [K in keyof D]: D[K] extends Token<infer T> ? T : D[K] extends { readonly prototype: infer T } ? T : never;
};

/** What a part may have when it works for as long as its service does; it knows nothing of the framework. */
interface Life {
  begin?(): unknown;
  end?(): unknown;
}

/**
 * A line in the table of contents of a service: a part, what it needs, and how it is made of that. The compiler knows what each
 * token stands for. A part with `begin()` begins after what it needs, and one with `end()` ends before what it needs; the service waits for both.
 */
export function part<T, const D extends readonly Provided[]>(
  provide: Provided<T>,
  needs: D,
  make: (...parts: PartsOf<D>) => T | Promise<T>,
): FactoryProvider<T> {
  return {
    provide: provide as InjectionToken<T>,
    inject: needs as readonly Provided[] as InjectionToken[],
    useFactory: (...parts: unknown[]) => Promise.resolve(make(...(parts as PartsOf<D>))).then(hooked),
  };
}

function hooked<T>(made: T): T {
  const life: Life = Object(made);
  if (life.begin !== undefined) Object.assign(life, { onApplicationBootstrap: () => life.begin?.() });
  if (life.end !== undefined) Object.assign(life, { beforeApplicationShutdown: () => life.end?.() });
  return made;
}
