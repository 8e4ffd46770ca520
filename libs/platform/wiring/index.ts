/** How the parts of a service are named and put together. What the parts are is in the module of each service. */
export { living, part, token, type Token } from './part.js';
export { CLOCK, INSTANCE, LOGGER, NATS, POSTGRES, SERVICE_CONFIG, SERVICE_NAME } from './tokens.js';
