/** The door of the console: who comes in, how much of each, bodies and refusals. What is asked for behind it is not known here. */
export { ConsoleAdmission, ADMISSION_LIMITS, type CalledRequest } from './admission.adapter.js';
export { cookieName, cookieOf, setCookie, type CookieSpec } from './cookies.js';
export { Door, openDoor } from './door.adapter.js';
export * from './input.js';
export { OpenAnswers } from './open-answers.js';
export { Places, type PlaceLimits } from './places.js';
export { RefusedError } from './refusal.js';
export * from './refusals.filter.js';
export { refuseUpgrade } from './upgrade.adapter.js';
export { isRead } from './same-origin.js';
export { callerOf, mustDo, Needs, RolesGuard } from './roles.adapter.js';
