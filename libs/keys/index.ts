export { PROOF_MS_MAX, proveActor, verifyActorProof, type Proven, type Verified } from './actor-proof.js';
export { busUsers, keyOf, type BusKeyFiles, type BusUser } from './bus-keys.adapter.js';
export { newAdminToken, newPassword, tokenHash } from './generate.js';
export { keepSecret, readSecret, writeSecret } from './secret-file.adapter.js';
