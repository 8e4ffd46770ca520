import type { CanActivate, ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { ActionName } from '#proto';
import { roleRefusal, type ConsoleCaller } from '../callers/index.js';
import type { CalledRequest } from './admission.adapter.js';
import { isProbe } from './gate.js';
import { RefusedError } from './refusal.js';

/**
 * What has to be allowed to who calls a route: an action of the table of roles. `anybody`: whoever is let in, and what he sees
 * depends on who he is; `said`: the body says what is to be done, and the handler asks for that.
 */
export const Needs = Reflector.createDecorator<ActionName | 'anybody' | 'said'>();

/** Deny by default: a route that does not say what it needs is for nobody. */
export class RolesGuard implements CanActivate {
  readonly #reflector = new Reflector();

  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<CalledRequest & { path: string }>();
    if (isProbe(request.path)) return true;
    const needs = this.#reflector.get(Needs, context.getHandler());
    if (needs === undefined) throw forbidden('No role may do this.');
    if (needs === 'anybody' || needs === 'said') return true;
    mustDo(callerOf(request), needs);
    return true;
  }
}

/** Who calls a route for which a login is needed. */
export function callerOf({ caller }: CalledRequest): ConsoleCaller {
  if (caller === undefined) throw new RefusedError({ code: 'UNAUTHORIZED', message: 'Nobody has logged in.' });
  return caller;
}

/** Throws RefusedError when the caller has none of the roles that it needs. */
export function mustDo(caller: ConsoleCaller, action: ActionName): void {
  const refusal = roleRefusal(caller, action);
  if (refusal !== undefined) throw forbidden(refusal);
}

function forbidden(message: string): RefusedError {
  return new RefusedError({ code: 'UNAUTHORIZED', message }, 403);
}
