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

/** A part that knows nothing of the framework, with what begins it and what ends it. */
export function living<T extends object>(life: T, { begin, end }: { begin?: () => unknown; end?: () => unknown }): T {
  return Object.assign(life, { onApplicationBootstrap: begin, beforeApplicationShutdown: end });
}

/**
 * A line in the table of contents of a service: a part, what it needs, and how it is made of that. The compiler knows what each
 * token stands for. Parts begin after what they need (`onApplicationBootstrap`) and end before it (`beforeApplicationShutdown`).
 */
export function part<T, const D extends readonly Provided[]>(
  provide: Provided<T>,
  needs: D,
  make: (...parts: PartsOf<D>) => T | Promise<T>,
): FactoryProvider<T> {
  return {
    provide: provide as InjectionToken<T>,
    inject: needs as readonly Provided[] as InjectionToken[],
    useFactory: (...parts: unknown[]) => make(...(parts as PartsOf<D>)),
  };
}
