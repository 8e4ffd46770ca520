/** The accessibility tree of the programs of a desktop, over AT-SPI: what controls there are, and the texts in them. */
export * from './accessible.js';
export * from './bus.client.js';
export * from './tree.adapter.js';
export * from './texts.adapter.js';
