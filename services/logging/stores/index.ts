/** Where what happens is stored, and how full that is, as far as it is seen from here. */
export * from './stores.adapter.js';
