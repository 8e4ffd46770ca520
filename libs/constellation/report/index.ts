/**
 * The report of a run as Markdown, section by section. Everything that it says is in the facts.
 */
