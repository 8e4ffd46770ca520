export { busUsers, keyOf, type BusKeyFiles } from './bus-keys.adapter.js';
export { newAdminToken, newPassword, tokenHash } from './generate.js';
export { keepSecret, readSecret, writeSecret } from './secret-file.adapter.js';
