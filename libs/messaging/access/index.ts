/** Who reads what is stored before it is shown. What stands in a record is in `proto`; who may read the records decides the registry. */
export * from './store-access.adapter.js';
export * from './search-access.js';
