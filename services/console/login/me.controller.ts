import { Controller, Get, Inject, Req } from '@nestjs/common';
import { z } from 'zod';
import { Actor, Login, Role } from '#proto';
import { csrfTokenOf, Logins } from '../callers/index.js';
import { callerOf, Door, Needs, type CalledRequest } from '../http/index.js';

/** Who asks, as this console sees him. */
export const Me = z.strictObject({
  actor: Actor,
  roles: z.array(Role),
  login: Login,
  /** With a session only: what a change has to say in the header `X-Orrery-CSRF`. */
  csrf: z.string().optional(),
  /** Nobody else may approve: the word of this person counts for what is his own, too. */
  isOnlyApprover: z.literal(true).optional(),
});
export type Me = z.infer<typeof Me>;

/** Who am I, what may I do, and by which login. */
@Controller('v1/me')
export class MeController {
  readonly #door: Door;
  readonly #logins: Logins;

  constructor(@Inject(Door) door: Door, @Inject(Logins) logins: Logins) {
    this.#door = door;
    this.#logins = logins;
  }

  @Get()
  @Needs('anybody')
  me(@Req() request: CalledRequest): Me {
    const { actor, roles, issuer, subject } = callerOf(request);
    const id = request.headers.authorization === undefined ? this.#door.sessionId(request) : undefined;
    const login = { issuer, subject };
    return {
      actor,
      roles: [...roles],
      login,
      ...(id === undefined ? {} : { csrf: csrfTokenOf(id) }),
      ...(this.#logins.isOnlyApprover(actor.id) && { isOnlyApprover: true }),
    };
  }
}
