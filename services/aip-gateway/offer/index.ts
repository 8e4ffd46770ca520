/** What this gateway gives, without a question, to machines that are to become devices. Who they are is a matter of `identity`. */
export * from './offer-http.controller.js';
