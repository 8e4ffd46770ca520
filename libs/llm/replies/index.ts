/**
 * From the text of a model to a value that fits a schema, asked again when it does not.
 */
