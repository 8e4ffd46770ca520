/**
 * Another planner that speaks AIP, as a constellation client of ours: who it is, what it may change, what it is told. How its edits are
 * judged is the business of libs/constellation.
 */
export * from './constellation-endpoint.gateway.js';
