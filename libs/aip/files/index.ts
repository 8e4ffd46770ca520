/**
 * A file in pieces over one connection: sender, receiver, and the pump between them and a disk. Which file may go where is
 * decided by those who use it.
 */
