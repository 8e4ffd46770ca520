/**
 * What is on a screen, pure: places, kinds of controls, the notation of keys, the ids of one listing, and what nobody may do in
 * which window. How a screen is looked at, and what stands on it, is the business of those who have one.
 */
export * from './control-types.js';
export * from './floors.js';
export * from './formulas.js';
export * from './key-notation.js';
export * from './listing.js';
export * from './program-name.js';
export * from './rectangles.js';
export * from './screen-text.js';
