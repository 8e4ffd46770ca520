/**
 * So many at once, the others in the order of coming: one way for everybody. What is done in a slot, and how long, is decided by
 * those who take one.
 */
export * from './slots.js';
