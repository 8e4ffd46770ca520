import type { FactoryProvider, InjectionToken } from '@nestjs/common';

declare const PROVIDED: unique symbol;

/** Name of a part that is no class, with the type of what is provided under it. */
export type Token<T> = symbol & { readonly [PROVIDED]: T };

export function token<T>(name: string): Token<T> {
  return Symbol(name) as Token<T>;
}

/** By what a part is asked for: its class, or a token. */
type Provided<T = unknown> = Token<T> | { readonly prototype: T };

/** In order, or by the names that the part has for them. */
type Needs = readonly Provided[] | Readonly<Record<string, Provided>>;

type PartsOf<D extends Needs> = {
  [K in keyof D]: D[K] extends Token<infer T> ? T : D[K] extends { readonly prototype: infer T } ? T : never;
};

type Arguments<D extends Needs> = PartsOf<D> extends infer P extends readonly unknown[] ? P : [PartsOf<D>];

/** What a part may have when it works for as long as its service does; it knows nothing of the framework. */
interface Life {
  begin?(): unknown;
  /** The service is about to end; it still takes messages. */
  leave?(): unknown;
  end?(): unknown;
}

/**
 * A line in the table of contents of a service: a part, what it needs, and how it is made of that. The compiler knows what each
 * token stands for. A part with `begin()` begins after what it needs, and one with `end()` ends before what it needs; one with
 * `leave()` hears before that, while messages still come, that the service is about to end. The service waits for each.
 */
export function part<T, const D extends Needs>(
  provide: Provided<T>,
  needs: D,
  make: (...parts: Arguments<D>) => T | Promise<T>,
): FactoryProvider<T> {
  const names = Object.keys(needs);
  const named = (parts: unknown[]): unknown => Object.fromEntries(names.map((name, at) => [name, parts[at]]));
  return {
    provide: provide as InjectionToken<T>,
    inject: Object.values(needs) as InjectionToken[],
    useFactory: async (...parts: unknown[]) =>
      hooked(await make(...((Array.isArray(needs) ? parts : [named(parts)]) as Arguments<D>))),
  };
}

function hooked<T>(made: T): T {
  const life: Life = Object(made);
  if (life.begin !== undefined) Object.assign(life, { onApplicationBootstrap: () => life.begin?.() });
  if (life.leave !== undefined) Object.assign(life, { onModuleDestroy: () => life.leave?.() });
  if (life.end !== undefined) Object.assign(life, { beforeApplicationShutdown: () => life.end?.() });
  return made;
}
