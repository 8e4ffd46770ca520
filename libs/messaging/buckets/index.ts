/** A KV bucket that is read whole and then followed. What its entries mean is for whoever follows it. */
export * from './follow-bucket.adapter.js';
