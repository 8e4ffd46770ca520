/** The door of the console: its gate, bodies and refusals. What is asked for behind it is not known here. */
export { Admission, ADMISSION_LIMITS, type BodyRequest } from './admission.adapter.js';
export { gate } from './http.adapter.js';
export * from './input.js';
export { OpenAnswers } from './open-answers.js';
export { RefusedError } from './refusal.js';
export * from './refusals.filter.js';
