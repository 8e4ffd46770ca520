/**
 * Users of the bus: what each may publish and read, whose keys are whose, and whose word a proof is. Keys themselves are made and
 * checked in `libs/keys`.
 */
export { Actors, type ActorAnswer, type SignedCommand } from './actors.adapter.js';
export { actorsOf, natsUsers, type NatsUserSpec } from './nats-users.js';
export { provisionActors, type ActorsOptions, type ProvisionedActors } from './provision-actors.adapter.js';
