/**
 * A run in the words and files of UFO, for its own tools. Nothing else in the library depends on it.
 */
