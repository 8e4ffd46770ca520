/** A KV bucket that is read whole and then followed. What its entries mean is for its follower. */
export * from './follow-bucket.adapter.js';
