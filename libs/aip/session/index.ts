/**
 * The service's end of a connection, for devices and for constellations: what is remembered of the peer, and what follows from
 * each of its messages.
 */
export { NUMBERED_SINCE } from './session-state.js';
