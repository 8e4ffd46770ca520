/** A KV bucket that is read whole and then followed. What its entries mean is for whoever follows it. */
export { followBucket } from './follow-bucket.adapter.js';
export type { BucketLook, Following } from './follow-bucket.adapter.js';
