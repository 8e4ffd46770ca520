/** How a method of a service says which messages it takes. How they get there is in `libs/messaging`. */
export * from './takes-messages.js';
