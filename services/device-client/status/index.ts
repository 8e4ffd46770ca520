/** What the client says of itself to people on its own machine: asked for over a socket that only its user may open. Nothing leaves the machine by it. */
export * from './client-status.js';
export * from './status-socket.adapter.js';
